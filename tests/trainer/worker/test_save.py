"""A snapshot is whole or not there, and its manifest says what it is."""

from __future__ import annotations

import errno
import json
from datetime import UTC, datetime

import pytest
from support import life

from akka_optimize.trainer import artifacts, claims, start
from akka_optimize.trainer.engines import arithmetic, engine
from akka_optimize.trainer.worker import attempt, save
from akka_optimize.trainer.worker.drain import Stop

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def claimed(tmp_path):
    """A claimed run, its folder and catalog, and a session's state to save."""
    home, catalog = life.open_home(tmp_path)
    start.start(catalog, home, life.descriptor())
    run, lock = claims.take(catalog, home)
    with catalog, lock:
        yield catalog, home, run, engine("arithmetic").start(life.job()).hold()


def save_at(claimed, step=3, validation=1.5):
    """Save what is held; where it is then."""
    catalog, home, run, held = claimed
    folder = home.path / run.folder
    save.save(catalog, folder, run, held, save.Moment(step, 0.5, validation))
    return artifacts.place(folder, step)


def test_what_a_dead_attempt_left_is_replaced(claimed):
    """A snapshot that was never committed, finished or not, does not stand in the way of the one that is."""
    catalog, home, run, _ = claimed
    for leftover in (".tmp-3", "3"):
        place = home.path / run.folder / "snapshots" / leftover
        place.mkdir()
        (place / "old").write_text("old")
    place = save_at(claimed, validation=None)
    assert {path.name for path in place.iterdir()} == {save.WEIGHTS, save.TRAINING_STATE, save.MANIFEST}
    assert catalog.snapshots(run.run_id).total == 1


def test_a_validation_loss_that_is_not_finite_is_said(claimed):
    """JSON has no NaN: the manifest has null, and the word beside it."""
    manifest = json.loads((save_at(claimed, validation=float("nan")) / "manifest.json").read_text())
    assert (manifest["validationLoss"], manifest["validationLossNotFinite"]) == (None, "nan")


def test_a_manifest_says_when_it_was_saved(claimed):
    """In UTC, as RFC 3339."""
    before = datetime.now(UTC)
    manifest = json.loads((save_at(claimed) / "manifest.json").read_text())
    saved = datetime.fromisoformat(manifest["savedAt"])
    assert abs(saved - before).total_seconds() < 60
    assert manifest["savedAt"].endswith("Z")


@pytest.mark.parametrize("place", ["save_weights", "save_training_state"])
def test_a_disk_that_fills_up_during_a_save_lists_nothing(claimed, monkeypatch, place):
    """The run is paused with the reason, keeps its curve, and neither catalog nor folder has a part of a snapshot."""
    catalog, home, run, _ = claimed

    def full(held, path):
        path.write_bytes(b"a part")
        raise FULL

    monkeypatch.setattr(arithmetic.ArithmeticHeld, place, full)
    attempt.Attempt(catalog, home, run, Stop()).carry_out()
    after = catalog.run(run.run_id)
    assert (after.phase, after.failure_code, after.observed_step) == ("PAUSED", "DISK_FULL", 20)
    assert (after.pause.checkpoint, after.pause.saved_step, after.pause.reason) == (None, None, after.failure_reason)
    assert "no space left on device" in after.failure_reason
    assert catalog.snapshots(run.run_id).total == 0
    assert list((home.path / run.folder / "snapshots").iterdir()) == []


def test_a_save_that_failed_takes_its_parts_away_at_once(claimed, monkeypatch):
    """What it had written is room that the catalog may need."""
    _, home, run, _ = claimed

    def full(*_args):
        raise FULL

    monkeypatch.setattr(arithmetic.ArithmeticHeld, "save_training_state", full)
    with pytest.raises(OSError, match="No space"):
        save_at(claimed)
    assert list((home.path / run.folder / "snapshots").iterdir()) == []
