"""Which saves stay: of each kind of artifact the newest, those that a child or a pin holds, and the best snapshot.

At least one of each kind is kept, so that what an attempt would go on from is always there, and the best snapshot has
its training state for as long as it is the best.

First the catalog gives an artifact up, in one transaction that looks at who holds it; then its file goes. So a child
either finds the artifact listed and holds it, or finds it swept. A manifest always stays: it says what was there.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from akka_optimize.record.layout import SNAPSHOTS
from akka_optimize.trainer import artifacts, files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from akka_optimize.records import Run, Snapshot
    from akka_optimize.trainer.catalog import Catalog

KEPT_BY = {"weights": "keepAdapters", "trainingState": "keepTrainingStates"}
PAGE = 100


def sweep(catalog: Catalog, folder: Path, run: Run) -> None:
    """After a save: give up what is too old, and delete it. Raises what the catalog does."""
    left = catalog.unswept(run.run_id)
    for snapshot in left:
        due = {kind for kind, key in KEPT_BY.items() if snapshot in _old(left, kind, run.execution[key])}
        if due and not snapshot.best:
            _delete(folder, snapshot, catalog.sweep(snapshot.snapshot_id, due))


def tidy(catalog: Catalog, folder: Path, run: Run) -> None:
    """Delete what was given up and is there still, and saves that the catalog never heard of.

    A process ended, or the disk refused, between the two acts. For whoever holds the run: nobody is saving meanwhile.
    """
    offset, listed = 0, set()
    while (page := catalog.snapshots(run.run_id, limit=PAGE, offset=offset)).items:
        for snapshot in page.items:
            listed.add(str(snapshot.step))
            _delete(folder, snapshot, (artifact.kind for artifact in snapshot.artifacts if artifact.swept))
        offset += PAGE
    for place in (folder / SNAPSHOTS).glob("*"):
        if place.name.isdecimal() and place.name not in listed and place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)


def _old(left: tuple[Snapshot, ...], kind: str, keep: int) -> tuple[Snapshot, ...]:
    """Those of `left`, newest first, that have a `kind` to give up, but for the newest `keep`."""
    there = [each for each in left if any(a.kind == kind and not a.swept for a in each.artifacts)]
    return tuple(there[keep:])


def _delete(folder: Path, snapshot: Snapshot, kinds: Iterable[str]) -> None:
    """Delete the files of these kinds, unless a later attempt has put its own in their place.

    A file that cannot be deleted ends no run; it is tried again when the run's record is closed.
    """
    place = artifacts.place(folder, snapshot.step)
    there = [path for path in (place / artifacts.FILES[kind] for kind in kinds) if path.exists()]
    if not there:
        return
    with suppress(OSError):
        if artifacts.manifest(folder, snapshot) is None:
            return
        for path in there:
            path.unlink(missing_ok=True)
        files.flush_folder(place)
