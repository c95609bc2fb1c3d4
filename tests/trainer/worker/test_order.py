"""What a record is made of is on the disk before anybody hears of it: flush, rename, flush the folder, commit."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support import life

from akka_optimize.trainer import claims, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.worker import attempt
from akka_optimize.trainer.worker.drain import Stop

COMMITS = ("add_run", "record", "add_snapshot", "set_phase")


@dataclass
class Operations:
    """What was done to the disk, in the order of each thread; every rename is checked when it happens, every commit."""

    flushed: set[int] = field(default_factory=set)  # files and folders, by their numbers
    names: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))  # that changed since a flush
    logs: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def flush(self, descriptor):
        """A file or folder is on the disk."""
        number = os.fstat(descriptor).st_ino
        self.flushed.add(number)
        for names in self.names.values():
            names.pop(number, None)

    def move(self, place, target):
        """All that is moved, names included, was flushed before."""
        moved = [place, *place.rglob("*")] if place.is_dir() else [place]
        late = [str(path) for path in moved if path.stat().st_ino not in self.flushed and any_content(path)]
        assert late == [], f"moved to {target.name} and not flushed"
        self.logs[thread()].append(("move", target.name))
        self.names[thread()][target.parent.stat().st_ino] = str(target.parent)

    def commit(self, what):
        """No name that changed is left to be flushed."""
        assert self.names[thread()] == {}, f"{what} before these were flushed"
        self.logs[thread()].append(("commit", what))


def thread():
    """Which of the worker's two threads is this?"""
    return "saving" if threading.current_thread().name.startswith("save") else "training"


def any_content(path):
    """Is there anything that could be lost? An empty folder's name is its parent's."""
    return path.is_file() or any(path.iterdir())


@pytest.fixture
def operations(monkeypatch):
    """Watch flushes, renames and commits."""
    watched = Operations()
    really = {"fsync": os.fsync, "rename": Path.rename, "replace": Path.replace}

    def fsync(descriptor):
        really["fsync"](descriptor)
        watched.flush(descriptor)

    def moves(how):
        def move(place, target):
            watched.move(place, Path(target))
            return really[how](place, target)

        return move

    def commits(name):
        commit = getattr(Catalog, name)

        def committed(catalog, *args, **kwargs):
            watched.commit(name)
            if name == "add_snapshot":
                assert catalog.run(args[0].run_id).observed_step >= args[0].step, "a save before its curves"
            return commit(catalog, *args, **kwargs)

        return committed

    monkeypatch.setattr(os, "fsync", fsync)
    for how in ("rename", "replace"):
        monkeypatch.setattr(Path, how, moves(how))
    for name in COMMITS:
        monkeypatch.setattr(Catalog, name, commits(name))
    return watched


@pytest.fixture
def trainer(tmp_path, operations):
    """A catalog and a home with 40 short rows, all of it watched."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        operations.logs.clear()
        yield catalog, home


def test_a_run_is_on_the_disk_before_it_is_queued(trainer, operations):
    """Configuration, seeds and rows are flushed, then the folder is moved to its place, then the run is in a queue."""
    run = start.start(*trainer, life.descriptor())
    assert operations.logs["training"][-2:] == [("move", Path(run.folder).name), ("commit", "add_run")]


def test_every_file_of_an_attempt_is_there_before_it_counts(trainer, operations):
    """run.json before training, curves before the snapshot of their step, the closed record before the last phase."""
    catalog, home = trainer
    start.start(*trainer, life.descriptor({"execution.saveEvery": 10}))
    run, lock = claims.take(catalog, home)
    operations.logs.clear()
    with lock:
        attempt.Attempt(catalog, home, run, Stop()).carry_out()
    assert operations.logs["training"] == [
        ("move", "run.json"),
        ("commit", "set_phase"),
        ("commit", "record"),
        ("commit", "record"),
        ("move", "metrics.csv"),
        ("move", "summary.json"),
        ("move", "checksums.txt"),
        ("commit", "set_phase"),
    ]
    assert operations.logs["saving"] == [
        ("move", "10"),
        ("commit", "add_snapshot"),
        ("move", "20"),
        ("commit", "add_snapshot"),
    ]
