"""Starting a run: its folder is whole and on the disk before anybody can see that the run exists."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.core.problems import quoted
from akka_optimize.trainer import datasets, environment, folder, origins, seeds, unfinished
from akka_optimize.trainer.catalog.base import utc_now
from akka_optimize.trainer.catalog.new import NewRun
from akka_optimize.trainer.names import shown
from akka_optimize.trainer.resolve import Request, request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from akka_optimize.records import Document, Origin, ResolvedRun, Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home


def start(catalog: Catalog, home: Home, document: Document, *, origin: Origin | None = None) -> Run:
    """Check a descriptor, write the run's folder, and queue the run.

    A descriptor whose `submissionId` was used already reaches the run that it started, and starts none. Raises what
    `resolve.request` and `origins.check` raise, Conflict (that submission asked for something else), Exhausted, Refused
    (disk), TimedOut.
    """
    origins.check(origin)
    wanted = request(catalog, home, document)
    new = new_run(wanted, secrets.token_hex(8), origin)
    if new.submission_id is not None and (earlier := catalog.submitted(new.submission_id)) is not None:
        return _same(earlier, new)
    try:
        with unfinished.alone(catalog, home), folder.made(catalog, home, [new_folder(home, wanted, new, origin)]):
            return catalog.add_run(new)
    except errors.Conflict:
        if new.submission_id is None or (earlier := catalog.submitted(new.submission_id)) is None:
            raise
        return _same(earlier, new)  # the same submission, from another process, a moment ago


def preview(catalog: Catalog, home: Home, document: Document) -> ResolvedRun:
    """What a descriptor resolves to, noted when its `submissionId` has started a run already; nothing is stored.

    Raises what `resolve.request` raises, and Conflict (that submission asked for something else).
    """
    wanted = request(catalog, home, document)
    token = wanted.run.descriptor["submissionId"]
    if token is None or (earlier := catalog.submitted(token)) is None:
        return wanted.run
    new = new_run(wanted, earlier.run_id)
    _same(earlier, new)
    notes = [f"submission {shown(token)} started run {earlier.run_id} already, which is reached; no other is started"]
    if earlier.dataset != new.dataset:
        name = shown(new.dataset_name or new.dataset)
        notes.append(f"dataset {name} has other rows by now; run {earlier.run_id} keeps those it had")
    return replace(wanted.run, notes=(*notes, *wanted.run.notes))


def new_folder(home: Home, wanted: Request, new: NewRun, origin: Origin | None = None) -> folder.New:
    """The folder that a resolved run is to have. Raises NotFound (the dataset's rows)."""
    told = identity(new, workload=wanted.workload.name, examples=wanted.dataset.example_count, notes=wanted.run.notes)
    return folder_of(home, new, told, origin)


def folder_of(home: Home, new: NewRun, told: Document, origin: Origin | None) -> folder.New:
    """The folder of a run whose `run.json` says what is `told`. Raises NotFound (the dataset's rows)."""
    rows = datasets.place(home, new.dataset)
    diff = None if origin is None else origin.diff
    return folder.New(new.folder, told, plans.plan_text(new.plan), rows, diff)


def identity(new: NewRun, *, workload: str, examples: int, notes: Sequence[str]) -> Document:
    """What `run.json` says: who this run is, what its chance comes from, and where it is carried out.

    `workload` is its name, `examples` counts the dataset's rows.
    """
    return {
        "formatVersion": folder.FORMAT_VERSION,
        "runId": new.run_id,
        "name": new.name,
        "purpose": new.purpose,
        "description": new.description,
        "configName": new.config_name,
        "submittedAt": utc_now(),
        "workload": {"workloadId": new.workload_id, "name": workload},
        "grader": new.grader,
        "submissionId": new.submission_id,
        "configHash": new.config_hash,
        "configSha256": plans.plan_hash(new.plan),
        "dataset": {"hash": new.dataset, "name": new.dataset_name, "examples": examples},
        "rows": {"training": new.training_rows, "heldOut": new.validation_rows, "skipped": new.skipped_rows},
        "steps": new.steps,
        **_lineage(new),
        "repeats": new.repeats,
        "origin": new.origin,
        "seeds": seeds.document(new.seed, new.division.devices),
        "division": {
            "devices": new.division.devices,
            "sequencesPerPass": new.division.sequences_per_pass,
            "accumulation": new.division.accumulation,
            "sequencesPerUpdate": new.division.sequences_per_update,
        },
        "config": new.config,
        "execution": new.execution,
        "stated": list(new.stated),
        "notes": list(notes),
        "environment": environment.known(),
    }


def _lineage(new: NewRun) -> Document:
    """Where a child comes from, and what its point set; nothing for a run without a parent."""
    if new.parent_run_id is None:
        return {}
    parent = {
        "runId": new.parent_run_id,
        "snapshotId": new.source_snapshot_id,
        "step": new.source_step,
        "restore": new.restore,
    }
    return {"parent": parent, "changes": new.changes, "changed": new.changed}


def new_run(wanted: Request, run_id: str, origin: Origin | None = None) -> NewRun:
    """What the catalog is to hold of a resolved run."""
    run, document = wanted.run, wanted.run.descriptor
    return NewRun(
        run_id=run_id,
        name=document["name"],
        purpose=document["purpose"],
        description=document["description"],
        config_name=document["configName"],
        workload_id=wanted.workload.workload_id,
        method=run.config["method"],
        base_model=wanted.base_model.repository,
        dataset=wanted.dataset.hash,
        dataset_name=run.config["dataset"],
        grader=document["grader"] or wanted.workload.grader,
        submission_id=document["submissionId"],
        config_hash=run.config_hash,
        plan=run.plan,
        config=run.config,
        execution=run.execution,
        stated=run.stated,
        division=run.division,
        seed=run.config["seed"],
        steps=run.steps,
        folder=folder.name(run_id, run.config_hash),
        training_rows=run.training_rows,
        validation_rows=run.validation_rows,
        skipped_rows=run.skipped_rows,
        origin=origins.document(origin),
    )


ASKED = {
    "workload_id": "workload",
    "base_model": "baseModel",
    "name": "name",
    "purpose": "purpose",
    "description": "description",
    "config_name": "configName",
    "grader": "grader",
}
HORIZON = ("hyperparams.training.epochs", "hyperparams.training.maxSteps")


def _same(earlier: Run, new: NewRun) -> Run:
    """The run that a submission started before. Raises Conflict when it asked for something else."""
    if told := list(_differences(earlier, new)):
        raise errors.Conflict(
            f"submission {shown(new.submission_id or '')} started run {earlier.run_id} with {', '.join(told)}",
            field="submissionId",
            hint="use a new submissionId for another run",
        )
    return earlier


def _differences(earlier: Run, new: NewRun) -> Iterator[str]:
    """What the two asked for differently, each with both values.

    A default is the same stated or left out, rows are the same by whichever name, and a horizon is the same however it
    was asked for. A name that points at other rows by now is still what was asked for.
    """
    for name, field in ASKED.items():
        if getattr(earlier, name) != getattr(new, name):
            yield _instead(field, getattr(earlier, name), getattr(new, name))
    alike = {"dataset"} if earlier.dataset == new.dataset else set()
    if earlier.steps == new.steps:
        alike |= {*HORIZON}
    for difference in plans.differences(earlier.config, new.config):
        if difference.path not in alike:
            yield _instead(f"config.{difference.path}", difference.run, difference.baseline)
    for difference in plans.differences(earlier.execution, new.execution):
        yield _instead(f"execution.{difference.path}", difference.run, difference.baseline)


def _instead(path: str, theirs: object, ours: object) -> str:
    return f"{path} {quoted(theirs)} instead of {quoted(ours)}"
