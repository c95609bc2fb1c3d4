"""What a run's folder tells of it, as the catalog is to hold it.

The folder has been verified: its files are the ones that its checksums list. But whoever wrote it wrote those, too, so
nothing in it is taken at its word that can be computed, and every field has the kind that this version gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.record import curves, layout, paths
from akka_optimize.records import Division
from akka_optimize.trainer import artifacts, files, folder
from akka_optimize.trainer.catalog.intake import Taken
from akka_optimize.trainer.catalog.new import NewRun
from akka_optimize.trainer.intake import results, said
from akka_optimize.trainer.names import check_name

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.records import Document
    from akka_optimize.trainer.datasets import Stored
    from akka_optimize.trainer.intake.said import Said

RESTORES = frozenset(artifacts.FILES)


def parent_of(place: Path) -> str | None:
    """The id of the run that the run of this folder branched from. Raises Invalid, Refused."""
    parent = said.read(place / layout.RUN, layout.RUN).object_or_none("parent")
    return None if parent is None else parent.text("runId", "token")


def read(place: Path, name: str, rows: Stored) -> Taken:
    """The run of the folder at `place`, whose name is to be `name`; `rows` is what its data turned out to be.

    Raises Invalid (what it says), Refused (newer format; an earlier version's record).
    """
    identity, summary = said.read(place / layout.RUN, layout.RUN), said.read(place / layout.SUMMARY, layout.SUMMARY)
    run = _run(identity, _plan(place), name, rows)
    pieces = _curves(place / layout.METRICS)
    snapshots = tuple(results.snapshots(place, run, identity))
    return Taken(
        run=run,
        workload=_workload(identity.object("workload")),
        dataset=rows,
        created_at=identity.text("submittedAt", "token"),
        state=results.state(identity, summary, run, snapshots) | results.losses(pieces),
        chunks=tuple(results.chunks(pieces)),
        snapshots=snapshots,
    )


def _curves(table: Path) -> tuple[curves.Piece, ...]:
    try:
        with files.translated(table), table.open(encoding="ascii", newline="") as lines:
            return tuple(curves.read(lines))
    except UnicodeDecodeError as error:
        raise errors.Invalid(f"{layout.METRICS} is not the table that a run writes: {error}") from error


def _plan(place: Path) -> Document:
    """The plan in `config.json`. Raises Invalid unless that is its text byte for byte, which is what is hashed."""
    with files.translated(place):
        content = (place / layout.CONFIG).read_bytes()
    plan = said.parse(content, layout.CONFIG).document
    if plans.plan_text(plan).encode() != content:
        raise errors.Invalid(f"{layout.CONFIG} is not written as a plan is", field=layout.CONFIG)
    return plan


def _run(identity: Said, plan: Document, name: str, rows: Stored) -> NewRun:
    """What was known of the run when it was submitted."""
    run_id, division, counted = paths.run_id_of(name), _division(identity.object("division")), identity.object("rows")
    config, digest = _config(identity, plan, rows), plans.plan_hash(plan)
    if identity.text("runId") != run_id or name != folder.name(run_id, digest[:12]).removeprefix("runs/"):
        raise errors.Invalid(f"{layout.RUN}: this is not the folder {name} but that of another run", field="runId")
    planned = said.Said(plan, layout.CONFIG)
    return NewRun(
        run_id=run_id,
        name=identity.text_or_none("name", "name"),
        purpose=identity.text_or_none("purpose", "sentence"),
        description=identity.text_or_none("description", "text"),
        config_name=identity.text_or_none("configName", "line"),
        workload_id=identity.object("workload").text("workloadId", "token"),
        method=planned.text("method", "token"),
        base_model=planned.object("baseModel").text("name", "line"),
        dataset=rows.hash,
        dataset_name=_dataset_name(identity.object("dataset"), rows),
        grader=identity.text_or_none("grader", "grader"),
        submission_id=identity.text_or_none("submissionId", "token"),
        config_hash=digest[:12],
        plan=plan,
        config=config,
        execution=identity.object("execution").document,
        stated=identity.texts("stated"),
        division=division,
        seed=planned.whole("seed"),
        steps=planned.object("hyperparams").object("training").whole("steps", 1),
        folder=folder.name(run_id, digest[:12]),
        training_rows=counted.whole("training"),
        validation_rows=counted.whole("heldOut"),
        skipped_rows=counted.whole("skipped"),
        repeats=identity.text_or_none("repeats", "token"),
        origin=_origin(identity.object_or_none("origin")),
        **_lineage(identity),
    )


def _config(identity: Said, plan: Document, rows: Stored) -> Document:
    """The configuration, from which the plan has to follow. Raises Invalid, Refused (an earlier version's record)."""
    if "config" not in identity.document:
        raise errors.Refused(
            f"{layout.RUN} has no configuration: an earlier version wrote it, and what it wrote cannot be imported",
            field="config",
        )
    config, model = identity.object("config").document, said.Said(plan, layout.CONFIG).object("baseModel")
    try:
        again = plans.plan(
            config,
            dataset_hash=rows.hash,
            steps=plan["hyperparams"]["training"]["steps"],
            base_model=model.text("name"),
            revision=model.text("revision"),
            source=plan["source"],
        )
        same = plans.plan_text(again) == plans.plan_text(plan)
    except (KeyError, TypeError, AttributeError):
        same = False
    if not same:
        raise errors.Invalid(f"{layout.RUN}: config is not the one that {layout.CONFIG} was made of", field="config")
    return config


def _division(division: Said) -> Division:
    found = Division(
        devices=division.whole("devices", 1),
        sequences_per_pass=division.whole("sequencesPerPass", 1),
        accumulation=division.whole("accumulation", 1),
        sequences_per_update=division.whole("sequencesPerUpdate", 1),
    )
    if found.devices * found.sequences_per_pass * found.accumulation != found.sequences_per_update:
        raise errors.Invalid(f"{layout.RUN}: division does not come out even", field="division")
    return found


def _dataset_name(dataset: Said, rows: Stored) -> str | None:
    if dataset.text("hash") != rows.hash:
        raise errors.Invalid(
            f"{layout.RUN}: dataset.hash is {dataset.text('hash')[:12]}, and the rows of {layout.DATA} are "
            f"{rows.hash[:12]}",
            field="dataset",
        )
    return dataset.text_or_none("name", "line")


def _workload(workload: Said) -> str:
    name = workload.text("name")
    check_name(name, "workload")
    return name


def _origin(origin: Said | None) -> Document | None:
    if origin is None:
        return None
    return {"commit": origin.text("commit", "token"), "diffSha256": origin.text_or_none("diffSha256", "token")}


def _lineage(identity: Said) -> dict[str, Any]:
    """Where a child comes from; nothing for a run without a parent."""
    parent = identity.object_or_none("parent")
    if parent is None:
        return {}
    return {
        "parent_run_id": parent.text("runId", "token"),
        "source_snapshot_id": parent.text("snapshotId", "token"),
        "source_step": parent.whole("step", 1),
        "restore": parent.one_of("restore", RESTORES),
        "changes": identity.object("changes").document,
        "changed": identity.objects("changed") if identity.document.get("changed") is not None else None,
    }
