"""The snapshot that an attempt starts from, found where its run keeps it and checked before anything is read.

A child starts from its parent's, and a run that was stopped goes on from its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import artifacts, disk
from akka_optimize.trainer.engines import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from akka_optimize.records import Document, Run, Snapshot
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home


class SourceLost(errors.Refused):
    """What a child is to start from is not there any more, or not what it was."""


class StateLost(errors.Refused):
    """What a run is to go on from is not there any more, or not what was saved."""


@dataclass(frozen=True, slots=True)
class Restored:
    """Where an attempt goes on: after the update `step`, from the training state at `path`."""

    step: int
    path: Path


def own(catalog: Catalog, home: Home, run: Run) -> Restored | None:
    """The run's newest training state; None where it has none and begins anew. Raises StateLost."""
    snapshot = catalog.restore_point(run.run_id)
    if snapshot is None:
        return None
    folder = home.path / run.folder

    def lost(what: str) -> StateLost:
        return StateLost(f"snapshot {snapshot.snapshot_id[:12]}, after update {snapshot.step} of this run, {what}")

    told = _manifest(folder, snapshot, lost)
    return Restored(snapshot.step, _checked(folder, snapshot, "trainingState", told, lost))


def find(catalog: Catalog, home: Home, run: Run) -> Source | None:
    """What the engine of a child restores; None for a run that is nobody's child. Raises SourceLost."""
    if run.source_snapshot_id is None or run.restore is None:
        return None

    def lost(what: str) -> SourceLost:
        return SourceLost(f"snapshot {str(run.source_snapshot_id)[:12]} of run {run.parent_run_id} {what}")

    try:
        snapshot = catalog.snapshot(run.source_snapshot_id)
        folder = home.path / catalog.run(snapshot.run_id).folder
    except errors.NotFound as error:
        raise lost("is not in the catalog") from error
    told = _manifest(folder, snapshot, lost)
    if told[artifacts.WEIGHTS]["sha256"] != run.plan["source"]["weights"]:
        raise lost("holds other weights than the run's plan names")
    paths = {kind: _checked(folder, snapshot, kind, told, lost) for kind in dict.fromkeys(("weights", run.restore))}
    return Source(run.restore, paths["weights"], paths.get("trainingState"))


def _manifest(folder: Path, snapshot: Snapshot, lost: Callable[[str], errors.Refused]) -> Document:
    """What each file is, as the catalog vouches for it."""
    try:
        content = artifacts.manifest(folder, snapshot)
    except OSError as error:
        raise lost(_unreadable(error)) from error
    if content is None:
        place = artifacts.place(folder, snapshot.step) / artifacts.MANIFEST
        raise lost(f"has another manifest than the one that was committed: {place}")
    told: Document = json.loads(content)["files"]
    return told


def _checked(
    folder: Path, snapshot: Snapshot, kind: str, told: Document, lost: Callable[[str], errors.Refused]
) -> Path:
    path = artifacts.place(folder, snapshot.step) / artifacts.FILES[kind]
    try:
        found = disk.digest(path)
    except OSError as error:
        raise lost(_unreadable(error)) from error
    if found != told[path.name]["sha256"]:
        raise lost(f"is damaged: {path} is not the file that was saved")
    return path


def _unreadable(error: OSError) -> str:
    return f"cannot be read: {error.filename}: {(error.strerror or str(error)).lower()}"
