"""What a run's folder tells of how the run went: its phase, what happened to it, what it saved, and its curves."""

from __future__ import annotations

import hashlib
import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.record import layout
from akka_optimize.records import TERMINAL_PHASES, Artifact
from akka_optimize.trainer import artifacts, files
from akka_optimize.trainer.catalog import curves as parts
from akka_optimize.trainer.catalog.new import NewRun, NewSnapshot
from akka_optimize.trainer.catalog.snapshots import SWEPT
from akka_optimize.trainer.intake import said
from akka_optimize.trainer.worker.attempt import hparams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from akka_optimize.record.curves import Piece
    from akka_optimize.records import Document
    from akka_optimize.trainer.intake.said import Said

CLOSED = TERMINAL_PHASES | {"PAUSED"}
CHECKPOINTS = frozenset({"save", "latest"})
FOUND = frozenset({"nonFinite", "spike", "cut"})  # events that are read off the curves, and no run's own
Saved = tuple[tuple[NewSnapshot, str], ...]  # each with the time of its commit


def state(identity: Said, summary: Said, run: NewRun, snapshots: Saved) -> dict[str, Any]:
    """The columns of a run that changed while it was carried out, and since. Raises Invalid."""
    phase, step = summary.one_of("phase", CLOSED), summary.whole("observedStep")
    events, engine, runtime = _events(summary), summary.object_or_none("engine"), summary.object_or_none("runtime")
    described = engine is not None or step > 0  # its worker came as far as to say what it found
    return {
        "phase": phase,
        "attempt": summary.whole("attempt"),
        "cancel_requested": False,
        "observed_step": step,
        "environment": identity.object("environment").document if described else None,
        "hparams": hparams(run.plan) if described else None,
        "engine_config": engine and _same(engine, "requested", "resolved"),
        "engine_runtime": runtime and {"attempt": runtime.whole("attempt"), "runtime": runtime.object("used").document},
        "failure_code": summary.text_or_none("failureCode", "token"),
        "failure_reason": summary.text_or_none("failureReason"),
        "resumable": phase == "FAILED" and summary.flag("resumable"),
        "started_at": summary.text_or_none("startedAt", "token"),
        "ended_at": summary.text_or_none("endedAt", "token"),
        "pause": _pause(summary.object_or_none("pause")),
        "events": events,
        "replaced_steps": summary.whole("replacedSteps"),
        **_saved(snapshots),
        **_annotated(events),
    }


def _same(document: Said, *keys: str) -> Document:
    return {key: document.object(key).document for key in keys}


COUNTED = {"resumed": ("restoredStep", "replacedSteps"), "ended": ("step",), "clock": ("step",)}  # by an event's kind


def _events(summary: Said) -> list[Document]:
    """What happened to the run, without what is read off its curves."""
    own = [event for event in summary.objects("events") if event.get("kind") not in FOUND]
    for event in own:
        told = said.Said(event, f"{layout.SUMMARY}: an event")
        told.text("at", "token"), told.whole("attempt")
        for counted in COUNTED.get(told.text("kind", "token"), ()):
            told.whole(counted)
    return own


def _pause(pause: Said | None) -> Document | None:
    if pause is None:
        return None
    checkpoint = pause.text_or_none("checkpoint", "token")
    return {
        "checkpoint": checkpoint and pause.one_of("checkpoint", CHECKPOINTS),
        "requested_at": pause.text("requestedAt", "token"),
        "saved_step": pause.whole_or_none("savedStep"),
        "reason": pause.text_or_none("reason"),
        "resources_released": True,
    }


def _annotated(events: list[Document]) -> dict[str, Any]:
    """Description and label as they were set last, where they were; `run.json` says what they were at first."""
    columns, told = {"description": ("description", "text"), "configName": ("config_name", "line")}, dict[str, Any]()
    for event in events:
        if event["kind"] == "annotated" and event.get("field") in columns:
            column, form = columns[event["field"]]
            told[column] = said.Said(event, f"{layout.SUMMARY}: an event").text_or_none("to", form)
    return told


def _saved(snapshots: Saved) -> dict[str, Any]:
    """The columns that name the newest snapshot, and the one of the lowest validation loss, the earliest of equals."""
    if not snapshots:
        return {}
    own = [snapshot for snapshot, _ in snapshots]
    last = max(own, key=lambda each: (each.attempt, each.step))
    judged = [each for each in own if each.validation_loss is not None and math.isfinite(each.validation_loss)]
    best = min(judged, key=lambda each: (each.validation_loss, each.step, each.attempt), default=None)
    told: dict[str, Any] = {"saved_step": last.step, "last_snapshot_id": last.snapshot_id}
    if best is not None:
        told |= {
            "best_snapshot_id": best.snapshot_id,
            "best_step": best.step,
            "best_validation_loss": best.validation_loss,
        }
    return told


def snapshots(place: Path, run: NewRun, identity: Said) -> Iterator[tuple[NewSnapshot, str]]:
    """Every save of which the manifest is there, each with when it was committed."""
    for manifest in sorted((place / layout.SNAPSHOTS).glob(f"*/{layout.MANIFEST}")):
        name = manifest.relative_to(place).as_posix()
        with files.translated(manifest):
            digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
        told = said.read(manifest, name)
        if told.text("runId") != run.run_id or str(told.whole("step", 1)) != manifest.parent.name:
            raise errors.Invalid(f"{name} is not of this run, or of another update", field=name)
        listed = told.object("files")
        kept = {kind: (manifest.parent / file).is_file() for kind, file in artifacts.FILES.items()}
        yield (
            NewSnapshot(
                snapshot_id=hashlib.sha256(f"{run.run_id}\n{digest}".encode()).hexdigest(),
                run_id=run.run_id,
                attempt=told.whole("attempt", 1),
                step=told.whole("step", 1),
                epoch=told.number("epoch"),
                artifacts=tuple(
                    Artifact(kind, digest, listed.object(artifacts.FILES[kind]).whole("sizeBytes"), swept=not there)
                    for kind, there in kept.items()
                ),
                status="Available" if any(kept.values()) else SWEPT,
                validation_loss=_validation(told),
            ),
            told.text_or_none("savedAt", "token") or identity.text("submittedAt", "token"),
        )


def _validation(manifest: Said) -> float | None:
    """A validation loss, which JSON cannot hold when it is not finite."""
    word = manifest.text_or_none("validationLossNotFinite")
    if word is None:
        return manifest.number_or_none("validationLoss")
    try:
        return float(word)
    except ValueError as error:
        raise errors.Invalid(f"{layout.MANIFEST}: validationLossNotFinite is {word[:40]!r}") from error


def losses(pieces: Sequence[Piece]) -> dict[str, float | None]:
    """The columns of the last loss and validation loss, which JSON does not hold where they are no finite numbers."""
    last: dict[str, float] = {}
    for piece in pieces:
        last |= {name: float(values[-1]) for name, (_, values) in piece.columns.items()}
    return {"loss": last.get("loss"), "validation_loss": last.get("validationLoss")}


def chunks(pieces: Sequence[Piece]) -> Iterator[pb.MetricsChunk]:
    """Curves as a catalog keeps those of a run that has ended: by attempt, loss and gradient norm apart."""
    for _, group in groupby(sorted(pieces, key=lambda piece: piece.attempt), key=lambda piece: piece.attempt):
        own = [_chunk(piece) for piece in group]
        others = {column.name for chunk in own for column in chunk.columns} - parts.TOGETHER
        for columns in (parts.TOGETHER, others):
            yield from parts.join(own, columns)


def _chunk(piece: Piece) -> pb.MetricsChunk:
    chunk = pb.MetricsChunk(attempt=piece.attempt, steps=piece.steps.tolist())
    for name, (steps, values) in piece.columns.items():
        dense = len(steps) == len(piece.steps)
        chunk.columns.add(name=name, values=values.tolist(), steps=() if dense else steps.tolist())
    return chunk
