"""How runs are shown by where they branched: a table of children, an indented tree, a chain of ancestors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from akka_optimize.output.text import grid
from akka_optimize.output.view import Column, Document, Field, View
from akka_optimize.output.views.changes import of_child
from akka_optimize.output.views.run import FIELDS, phase, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from akka_optimize.records import Run, RunTree


def branch_document(run: Run) -> Document:
    """A child, with its ID and its budget under the names that lists of branches use."""
    return {"childRunId": run.run_id, "budgetSteps": run.steps, **to_json(run)}


BRANCHES = View(
    name="branch",
    plural="branches",
    fields=(
        Field("childRunId", "ID of the child run"),
        Field("budgetSteps", "updates that it was given"),
        *FIELDS,
    ),
    columns=(
        Column("CHILD RUN", "runId"),
        Column("PHASE", phase),
        Column("STEP", lambda run: f"{run.observed_step}/{run.steps}"),
        Column("LOSS", lambda run: run.loss),
        Column("SOURCE STEP", "sourceStep"),
        Column("CHANGES", of_child),
        Column("CONFIG", "configHash"),
        Column("RESTORE", "restore"),
    ),
    to_json=branch_document,
)

ANCESTRY = View(
    name="run",
    plural="runs",
    fields=FIELDS,
    columns=(
        Column("RUN", "runId"),
        Column("NAME", "name"),
        Column("PHASE", phase),
        Column("SOURCE STEP", "sourceStep"),
        Column("SNAPSHOT", lambda run: run.source_snapshot_id and run.source_snapshot_id[:12]),
        Column("STEPS", "steps"),
        Column("CHANGES", of_child),
        Column("CONFIG", "configHash"),
    ),
    to_json=to_json,
)


def depths(runs: Sequence[Run]) -> list[int]:
    """How many generations below the first run each one is; every parent stands before its children."""
    found: dict[str | None, int] = {}
    for run in runs:
        found[run.run_id] = found.get(run.parent_run_id, -1) + 1
    return [found[run.run_id] for run in runs]


def tree_text(tree: RunTree) -> str:
    """The runs, indented by generation, under their headings."""
    rows: list[list[Any]] = [
        ["  " * depth + run.run_id, phase(run), f"{run.observed_step}/{run.steps}", run.source_step, of_child(run)]
        for run, depth in zip(tree.runs, depths(tree.runs), strict=True)
    ]
    return grid(["RUN", "PHASE", "STEP", "SOURCE STEP", "CHANGES"], rows)


def tree_document(tree: RunTree) -> Document:
    """The runs in order, each with its generation."""
    pairs = zip(tree.runs, depths(tree.runs), strict=True)
    return {"runs": [{**to_json(run), "depth": depth} for run, depth in pairs]}


TREE = View(
    name="tree",
    fields=(Field("runs", "each run with all its fields and its depth, every parent before its children"),),
    to_json=tree_document,
    to_text=tree_text,
)
