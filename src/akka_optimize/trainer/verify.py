"""Checking the record of a run in this home: its files against each other, and against the catalog."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.record import files, layout
from akka_optimize.record import verify as folders
from akka_optimize.records import Mismatch, Verification
from akka_optimize.trainer import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from akka_optimize.records import Run, Snapshot
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

PAGE = 100


def verify(catalog: Catalog, home: Home, reference: str) -> Verification:
    """Check the files of a run's folder against each other, then against what the catalog holds of the run.

    A folder that is gone is one mismatch of the folder itself. Raises NotFound, Ambiguous, Refused (cannot be read).
    """
    run = catalog.run(reference)
    place = home.path / run.folder
    try:
        found = folders.verify(place, name=PurePath(run.folder).name)
    except (errors.NotFound, errors.Invalid) as error:
        gone = Mismatch("", f"is not there, or holds no record: {error.message.removeprefix(f'{place}: ')}")
        return Verification(run.folder, run.run_id, run.config_hash, 0, 0, (gone,))
    named = {each.file for each in found.mismatches}
    more = tuple(each for each in _against(catalog, place, run) if each.file not in named)
    return replace(found, folder=run.folder, mismatches=(*found.mismatches, *more))


def _against(catalog: Catalog, place: Path, run: Run) -> Iterator[Mismatch]:
    """Where the folder and the catalog do not say the same."""
    if _digest(place / layout.CONFIG) != plans.plan_hash(run.plan):
        yield Mismatch(layout.CONFIG, "is not the plan that the catalog holds of this run")
    for snapshot in _newest(catalog, run):
        path = artifacts.place(place, snapshot.step)
        name = f"{layout.SNAPSHOTS}/{snapshot.step}"
        if _digest(path / layout.MANIFEST) != snapshot.artifacts[0].manifest_digest:
            yield Mismatch(f"{name}/{layout.MANIFEST}", "is not the manifest that the catalog holds of this snapshot")
        for artifact in snapshot.artifacts:
            file = artifacts.FILES[artifact.kind]
            if not artifact.swept and not (path / file).exists() and not _is_swept(catalog, snapshot, artifact.kind):
                yield Mismatch(f"{name}/{file}", "is missing, and the catalog holds it as kept")


def _newest(catalog: Catalog, run: Run) -> Iterator[Snapshot]:
    """A run's snapshots, of each step the one of the latest attempt: the one that lies there."""
    offset, steps = 0, set[int]()
    while (page := catalog.snapshots(run.run_id, limit=PAGE, offset=offset)).items:
        for snapshot in page.items:
            if snapshot.step not in steps:
                steps.add(snapshot.step)
                yield snapshot
        offset += PAGE


def _is_swept(catalog: Catalog, snapshot: Snapshot, kind: str) -> bool:
    """Has it been given up since somebody looked?"""
    now = catalog.snapshot(snapshot.snapshot_id)
    return any(artifact.kind == kind and artifact.swept for artifact in now.artifacts)


def _digest(path: Path) -> str | None:
    try:
        with files.opened(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None
