"""Snapshots: written beside their place, flushed, renamed, and only then in the catalog, so none is ever torn."""

from __future__ import annotations

import hashlib
import math
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akka_optimize.records import Artifact
from akka_optimize.trainer import artifacts, disk, files
from akka_optimize.trainer.artifacts import MANIFEST, TRAINING_STATE, WEIGHTS
from akka_optimize.trainer.catalog.base import utc_now
from akka_optimize.trainer.catalog.new import NewSnapshot

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.records import Document, Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.engines import Held

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Moment:
    """When a run was held: after the update `step`, `epoch` times through its rows, with this validation loss."""

    step: int
    epoch: float
    validation: float | None


def save(catalog: Catalog, folder: Path, run: Run, held: Held, at: Moment) -> str:
    """Put what was held in the run's `folder` and into the catalog; the snapshot's id.

    A save that fails takes away what it had written. Raises OSError, Exhausted, and what the engine's libraries raise.
    """
    place = artifacts.place(folder, at.step)
    beside = place.with_name(f".tmp-{at.step}")
    for leftover in (beside, place):  # of an attempt that died before the catalog knew of it
        shutil.rmtree(leftover, ignore_errors=True)
    beside.mkdir()  # and never the folder that it is in: somebody who removed that wants no half of it back
    try:
        content = _write(beside, run, held, at)
        beside.rename(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)  # there still where something failed, and in need of the room
    files.flush_folder(place.parent)
    return _commit(catalog, run, at, place, hashlib.sha256(content).hexdigest())


def _write(beside: Path, run: Run, held: Held, at: Moment) -> bytes:
    """Every file of the snapshot, flushed, its manifest last; the manifest's bytes."""
    held.save_weights(beside / WEIGHTS)
    held.save_training_state(beside / TRAINING_STATE)
    content = disk.pretty(_manifest(beside, run, at))
    disk.write_new(beside / MANIFEST, content)
    for name in (WEIGHTS, TRAINING_STATE):
        disk.flush_file(beside / name)
    files.flush_folder(beside)
    return content


def _manifest(beside: Path, run: Run, at: Moment) -> Document:
    known = at.validation is not None and math.isfinite(at.validation)
    return {
        "formatVersion": FORMAT_VERSION,
        "runId": run.run_id,
        "configHash": run.config_hash,
        "attempt": run.attempt,
        "step": at.step,
        "epoch": at.epoch,
        "savedAt": utc_now(),
        "validationLoss": at.validation if known else None,
        "validationLossNotFinite": None if known or at.validation is None else str(at.validation),
        "files": {
            name: {"sha256": disk.digest(beside / name), "sizeBytes": (beside / name).stat().st_size}
            for name in (WEIGHTS, TRAINING_STATE)
        },
    }


def _commit(catalog: Catalog, run: Run, at: Moment, place: Path, digest: str) -> str:
    snapshot_id = hashlib.sha256(f"{run.run_id}\n{digest}".encode()).hexdigest()
    catalog.add_snapshot(
        NewSnapshot(
            snapshot_id=snapshot_id,
            run_id=run.run_id,
            attempt=run.attempt,
            step=at.step,
            epoch=at.epoch,
            artifacts=tuple(
                Artifact(kind, digest, (place / name).stat().st_size, swept=False)
                for kind, name in artifacts.FILES.items()
            ),
            validation_loss=at.validation,
        )
    )
    return snapshot_id
