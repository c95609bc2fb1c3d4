"""Folders of runs on their way in or out: whatever interrupts the move, the catalog decides afterwards.

A folder appears before its run is in the catalog and goes after the run has left it. A note of the folders is on the
disk while that lasts. Whoever finds the note and nobody at work makes folders and catalog agree: a run that the
catalog knows has its folder in place, and one that it does not know has none.
"""

from __future__ import annotations

import json
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import disk, files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home, Lock

LOCK, NOTE = "folders", "unfinished.json"
PATIENCE_SECONDS = 30.0


def beside(place: Path) -> Path:
    """Where a run's folder is while it is not, or no longer, in its place."""
    return place.with_name(f".tmp-{place.name}")


@contextmanager
def alone(catalog: Catalog, home: Home) -> Iterator[None]:
    """For the block, no other process moves a folder, and none is left half moved. Raises TimedOut, Exhausted, Refused.

    What is looked up inside holds until the block has acted on it.
    """
    with _locked(home, min(PATIENCE_SECONDS, catalog.patience)):
        _settle(catalog, home)
        yield


@contextmanager
def moving(catalog: Catalog, home: Home, folders: Sequence[str]) -> Iterator[None]:
    """For the block, inside `alone`, these folders, relative to the home, may disagree with the catalog; not after it.

    Raises Exhausted, Refused (disk).
    """
    try:
        with files.translated(home.path / NOTE):
            _write(home.path / NOTE, folders)
        yield
    finally:
        _settle(catalog, home)


def settle(catalog: Catalog, home: Home) -> None:
    """Bring to an end what a process that died left; for whoever opens the home. Nothing, while one is at work."""
    if (home.path / NOTE).exists() and (lock := home.lock(LOCK)) is not None:
        with lock:
            _settle(catalog, home)


def _settle(catalog: Catalog, home: Home) -> None:
    note = home.path / NOTE
    with files.translated(note):
        if not note.exists():
            return
        noted = _read(note)
        known = catalog.folders(noted)
        for folder in noted:
            place = home.path / folder
            if folder not in known:
                shutil.rmtree(place, ignore_errors=True)
                shutil.rmtree(beside(place), ignore_errors=True)
            elif not beside(place).exists():
                continue
            elif place.exists():
                shutil.rmtree(beside(place), ignore_errors=True)
            else:
                beside(place).rename(place)
        note.unlink()


def _write(note: Path, folders: Sequence[str]) -> None:
    disk.write_new(note, json.dumps(list(folders)).encode())
    files.flush_folder(note.parent)


def _read(note: Path) -> list[str]:
    """The folders in the note; none in a torn one, as none is moved before it is whole."""
    try:
        folders: list[str] = json.loads(note.read_bytes())
    except ValueError:
        return []
    return folders


def _locked(home: Home, patience: float) -> Lock:
    deadline = time.monotonic() + patience
    while (lock := home.lock(LOCK)) is None:
        if time.monotonic() > deadline:
            raise errors.TimedOut(
                f"another process has been submitting or deleting runs in {home.path} for {patience:g} s",
                hint="try again; nothing was changed",
            )
        time.sleep(0.005)
    return lock
