"""The snapshot that a child starts from, found where its parent keeps it and checked before anything is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import artifacts, disk
from akka_optimize.trainer.engines import Source

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.records import Document, Run, Snapshot
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home


class SourceLost(errors.Refused):
    """What a child is to start from is not there any more, or not what it was."""


def find(catalog: Catalog, home: Home, run: Run) -> Source | None:
    """What the run's engine restores; None for a run that is nobody's child. Raises SourceLost."""
    if run.source_snapshot_id is None or run.restore is None:
        return None
    try:
        snapshot = catalog.snapshot(run.source_snapshot_id)
        folder = home.path / catalog.run(snapshot.run_id).folder
    except errors.NotFound as error:
        raise _lost(run, "is not in the catalog") from error
    try:
        told = _manifest(folder, run, snapshot)
        _check_plan(run, told)
        paths = {
            kind: _checked(artifacts.place(folder, snapshot.step) / artifacts.FILES[kind], run, told)
            for kind in dict.fromkeys(("weights", run.restore))
        }
    except OSError as error:
        raise _lost(run, f"cannot be read: {error.filename}: {(error.strerror or str(error)).lower()}") from error
    return Source(run.restore, paths["weights"], paths.get("trainingState"))


def _manifest(folder: Path, run: Run, snapshot: Snapshot) -> Document:
    """What each file is, as the catalog vouches for it."""
    content = artifacts.manifest(folder, snapshot)
    if content is None:
        raise _lost(run, "has another manifest than the one that was committed")
    told: Document = json.loads(content)["files"]
    return told


def _check_plan(run: Run, told: Document) -> None:
    if told[artifacts.WEIGHTS]["sha256"] != run.plan["source"]["weights"]:
        raise _lost(run, "holds other weights than the run's plan names")


def _checked(path: Path, run: Run, told: Document) -> Path:
    if disk.digest(path) != told[path.name]["sha256"]:
        raise _lost(run, f"is damaged: {path} is not the file that was saved")
    return path


def _lost(run: Run, what: str) -> SourceLost:
    return SourceLost(f"snapshot {str(run.source_snapshot_id)[:12]} of run {run.parent_run_id} {what}")
