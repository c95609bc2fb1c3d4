"""A snapshot is flushed, in its place and flushed again before anybody hears of it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from support import life

from akka_optimize.trainer import claims, start
from akka_optimize.trainer.engines import engine
from akka_optimize.trainer.worker import attempt, save
from akka_optimize.trainer.worker.drain import Stop


@pytest.fixture
def saver(tmp_path):
    """A claimed run, its folder and catalog, and a session to save."""
    home, catalog = life.open_home(tmp_path)
    start.start(catalog, home, life.descriptor())
    run, lock = claims.take(catalog, home)
    with catalog, lock:
        yield catalog, home, run, engine("arithmetic").start(life.job())


def test_flush_rename_flush_commit(saver, monkeypatch):
    """At the rename the files and their folder were flushed; at the commit so was the parent, after the rename."""
    catalog, home, run, session = saver
    flushed, order = set(), []
    really = {"fsync": os.fsync, "rename": Path.rename, "add": catalog.add_snapshot}

    def fsync(descriptor):
        flushed.add(os.fstat(descriptor).st_ino)
        really["fsync"](descriptor)

    def rename(place, target):
        assert {path.stat().st_ino for path in (place, *place.iterdir())} <= flushed
        assert len(list(place.iterdir())) == 3
        order.append("rename")
        flushed.clear()
        return really["rename"](place, target)

    def add(new):
        assert (home.path / run.folder / "snapshots").stat().st_ino in flushed
        order.append("commit")
        return really["add"](new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", rename)
    monkeypatch.setattr(catalog, "add_snapshot", add)
    save.save(catalog, home.path / run.folder, run, session, step=3, validation=1.5)
    assert order == ["rename", "commit"]


def test_what_a_dead_attempt_left_is_replaced(saver):
    """A snapshot that was never committed, finished or not, does not stand in the way of the one that is."""
    catalog, home, run, session = saver
    for leftover in (".tmp-3", "3"):
        place = home.path / run.folder / "snapshots" / leftover
        place.mkdir()
        (place / "old").write_text("old")
    save.save(catalog, home.path / run.folder, run, session, step=3, validation=None)
    found = {path.name for path in (home.path / run.folder / "snapshots" / "3").iterdir()}
    assert found == {save.WEIGHTS, save.TRAINING_STATE, save.MANIFEST}
    assert catalog.snapshots(run.run_id).total == 1


def test_a_validation_loss_that_is_not_finite_is_said(saver):
    """JSON has no NaN: the manifest has null, and the word beside it."""
    catalog, home, run, session = saver
    save.save(catalog, home.path / run.folder, run, session, step=3, validation=float("nan"))
    manifest = (home.path / run.folder / "snapshots" / "3" / "manifest.json").read_text()
    assert '"validationLoss": null' in manifest
    assert '"validationLossNotFinite": "nan"' in manifest


@pytest.mark.parametrize("place", ["save_weights", "save_training_state"])
def test_a_disk_that_fills_up_during_a_save_lists_nothing(saver, monkeypatch, place):
    """The run fails with the reason, keeps its curve, and neither catalog nor folder has a part of a snapshot."""
    catalog, home, run, session = saver

    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(type(session), place, full)
    attempt.Attempt(catalog, home, run, Stop()).carry_out()
    after = catalog.run(run.run_id)
    assert (after.phase, after.failure_code, after.observed_step) == ("FAILED", "DISK_FULL", 20)
    assert catalog.snapshots(run.run_id).total == 0
    assert list((home.path / run.folder / "snapshots").iterdir()) == []
