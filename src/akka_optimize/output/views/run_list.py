"""How lists of runs are shown that answer a question: since when did it get worse, and what differs from a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.output.view import Column, Document, Field, View, plain
from akka_optimize.output.views import changes
from akka_optimize.output.views.run import FIELDS, phase, to_json

if TYPE_CHECKING:
    from akka_optimize.records import ChangedRun

HISTORY = View(
    name="run",
    plural="runs",
    fields=FIELDS,
    columns=(
        Column("CREATED", lambda run: run.created_at[:19] + "Z"),
        Column("RUN", "runId"),
        Column("NAME", "name"),
        Column("PHASE", phase),
        Column("STEP", lambda run: f"{run.observed_step}/{run.steps}"),
        Column("LOSS", lambda run: run.loss),
        Column("VALIDATION LOSS", lambda run: run.validation_loss),
        Column("BEST", lambda run: run.best_validation_loss),
        Column("CONFIG", "configHash"),
    ),
    to_json=to_json,
)


def _differences(record: ChangedRun) -> str:
    if record.itself:
        return "(the run itself)"
    return changes.line(record.differences, several=record.several) or "none"


def changed_document(record: ChangedRun) -> Document:
    """The run's document, and in what it differs from the reference."""
    return {
        **to_json(record.run),
        "differences": plain(record.differences),
        "severalDifferences": record.several,
    }


CHANGED = View(
    name="run",
    plural="runs",
    fields=(
        *FIELDS,
        Field("differences", "where its plan differs from that of the run named: path, from, to"),
        Field("severalDifferences", "are more than one of them neither source nor horizon?"),
    ),
    columns=(
        Column("RUN", "runId"),
        Column("NAME", "name"),
        Column("PHASE", lambda record: phase(record.run)),
        Column("LOSS", lambda record: record.run.loss),
        Column("BEST", lambda record: record.run.best_validation_loss),
        Column("CONFIG", "configHash"),
        Column("DIFFERENCES", _differences),
    ),
    to_json=changed_document,
)
