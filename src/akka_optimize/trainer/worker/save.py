"""Snapshots: written beside their place, flushed, renamed, and only then in the catalog, so none is ever torn."""

from __future__ import annotations

import hashlib
import math
import shutil
from typing import TYPE_CHECKING

from akka_optimize.records import Artifact
from akka_optimize.trainer import artifacts, disk, files
from akka_optimize.trainer.artifacts import MANIFEST, TRAINING_STATE, WEIGHTS
from akka_optimize.trainer.catalog.new import NewSnapshot

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.records import Document, Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.engines import Session

FORMAT_VERSION = 1


def save(catalog: Catalog, folder: Path, run: Run, session: Session, *, step: int, validation: float | None) -> str:
    """Save the session after the update `step` in the run's `folder`; the snapshot's id. Raises OSError, Exhausted."""
    place = artifacts.place(folder, step)
    beside = place.with_name(f".tmp-{step}")
    for leftover in (beside, place):  # of an attempt that died before the catalog knew of it
        shutil.rmtree(leftover, ignore_errors=True)
    beside.mkdir()  # and never the folder that it is in: somebody who removed that wants no half of it back
    session.save_weights(beside / WEIGHTS)
    session.save_training_state(beside / TRAINING_STATE)
    manifest = _manifest(beside, run, step=step, epoch=session.epoch(), validation=validation)
    content = disk.pretty(manifest)
    disk.write_new(beside / MANIFEST, content)
    for name in (WEIGHTS, TRAINING_STATE):
        disk.flush_file(beside / name)
    files.flush_folder(beside)
    beside.rename(place)
    files.flush_folder(place.parent)
    return _commit(catalog, run, manifest, hashlib.sha256(content).hexdigest(), validation)


def _manifest(beside: Path, run: Run, *, step: int, epoch: float, validation: float | None) -> Document:
    known = validation is not None and math.isfinite(validation)
    return {
        "formatVersion": FORMAT_VERSION,
        "runId": run.run_id,
        "configHash": run.config_hash,
        "attempt": run.attempt,
        "step": step,
        "epoch": epoch,
        "validationLoss": validation if known else None,
        "validationLossNotFinite": None if known or validation is None else str(validation),
        "files": {
            name: {"sha256": disk.digest(beside / name), "sizeBytes": (beside / name).stat().st_size}
            for name in (WEIGHTS, TRAINING_STATE)
        },
    }


def _commit(catalog: Catalog, run: Run, manifest: Document, digest: str, validation: float | None) -> str:
    snapshot_id = hashlib.sha256(f"{run.run_id}\n{digest}".encode()).hexdigest()
    sizes = {name: entry["sizeBytes"] for name, entry in manifest["files"].items()}
    catalog.add_snapshot(
        NewSnapshot(
            snapshot_id=snapshot_id,
            run_id=run.run_id,
            attempt=run.attempt,
            step=manifest["step"],
            epoch=manifest["epoch"],
            artifacts=(
                Artifact("weights", digest, sizes[WEIGHTS], swept=False),
                Artifact("trainingState", digest, sizes[TRAINING_STATE], swept=False),
            ),
            validation_loss=validation,
        )
    )
    return snapshot_id
