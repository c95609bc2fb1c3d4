"""A run that waits pauses at once and has a whole record; one in hand is asked."""

from __future__ import annotations

import json

import pytest
from support import life, parents

from akka_optimize import errors
from akka_optimize.trainer import claims, closing, pause, recover, resume, start, unclosed, verify


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def summary(trainer, run):
    """What the run's record says of it."""
    return json.loads((trainer[1].path / run.folder / "summary.json").read_text())


@pytest.mark.parametrize("checkpoint", ["save", "latest"])
def test_a_run_that_waits_is_on_record_as_paused(trainer, checkpoint):
    """Its folder is closed and sound, says why it stands still, and nothing is left to close."""
    run = pause.pause(*trainer, start.start(*trainer, life.descriptor()).run_id[:8], checkpoint)
    told = summary(trainer, run)
    assert (run.phase, told["phase"], told["endedAt"]) == ("PAUSED", "PAUSED", None)
    assert (told["pause"]["checkpoint"], told["pause"]["resourcesReleased"]) == (checkpoint, True)
    assert [event["phase"] for event in told["events"]] == ["PAUSED"]
    assert verify.verify(*trainer, run.run_id).mismatches == ()
    assert unclosed.marked(trainer[1]) == ()


def test_a_run_in_hand_is_asked(trainer):
    """Its worker decides when; its record stays open."""
    queued = start.start(*trainer, life.descriptor())
    with claims.take(*trainer)[1]:
        run = pause.pause(*trainer, queued.run_id, "save")
        assert (run.phase, trainer[0].requests(run.run_id).pause) == ("PREPARING", "save")
        assert not (trainer[1].path / run.folder / "summary.json").exists()


def test_a_run_that_was_paused_before_it_began_is_trained_as_if_it_had_not_been(trainer):
    """Resumed, it makes its first attempt, and its curve is that of a run that was left alone."""
    catalog, home = trainer
    run = pause.pause(*trainer, start.start(*trainer, life.descriptor()).run_id, "save")
    assert resume.resume(*trainer, run.run_id).phase == "QUEUED"
    done = parents.carry_out(catalog, home)
    twin = parents.trained(catalog, home)
    assert (done.run_id, done.phase, done.attempt, done.pause) == (run.run_id, "COMPLETED", 1, None)
    curves = [[c.SerializeToString() for c in catalog.metrics(each.run_id, ["loss"])] for each in (done, twin)]
    assert curves[0] == curves[1] != []
    assert verify.verify(*trainer, run.run_id).mismatches == ()


def test_a_run_that_is_asked_before_its_first_update_goes_on_later(trainer):
    """Its worker lets go at once; resumed, it is trained to the end."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    run, lock = claims.take(catalog, home)
    catalog.request_pause(run.run_id, "save")
    with lock:
        parents.Attempt(catalog, home, run, parents.Stop()).carry_out()
    paused = catalog.run(run.run_id)
    assert (paused.phase, paused.pause.checkpoint, paused.pause.resources_released) == ("PAUSED", "save", True)
    assert resume.resume(catalog, home, run.run_id).pause is None
    assert parents.carry_out(catalog, home).phase == "COMPLETED"


@pytest.mark.parametrize(
    ("checkpoint", "kind"), [("save", errors.Refused), ("latest", errors.Refused), ("soon", errors.Invalid)]
)
def test_what_is_refused_changes_nothing(trainer, checkpoint, kind):
    """A run that is paused stays as it is, and its record is neither opened nor written again."""
    run = pause.pause(*trainer, start.start(*trainer, life.descriptor()).run_id, "save")
    before = (trainer[1].path / run.folder / "summary.json").stat().st_mtime_ns
    with pytest.raises(kind):
        pause.pause(*trainer, run.run_id, checkpoint)
    assert trainer[0].run(run.run_id) == run
    assert unclosed.marked(trainer[1]) == ()
    assert (trainer[1].path / run.folder / "summary.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(("reference", "kind"), [("f" * 16, errors.NotFound), ("", errors.Invalid)])
def test_a_run_that_is_not_there(trainer, reference, kind):
    """It is said, and nothing is opened."""
    with pytest.raises(kind):
        pause.pause(*trainer, reference, "save")
    assert unclosed.marked(trainer[1]) == ()


def test_a_record_without_room_is_closed_later(trainer, monkeypatch):
    """The run is paused all the same, and whoever comes next writes its record."""
    queued = start.start(*trainer, life.descriptor())

    def full(*args, **kwargs):
        raise errors.Exhausted("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(closing, "close", full)
        run = pause.pause(*trainer, queued.run_id, "save")
    assert (run.phase, unclosed.marked(trainer[1])) == ("PAUSED", (run.run_id,))
    assert recover.recover(*trainer) == ()
    assert summary(trainer, run)["phase"] == "PAUSED"


@pytest.mark.parametrize(
    ("checkpoint", "phase", "code"), [("latest", "PAUSED", None), ("save", "FAILED", "WORKER_LOST")]
)
def test_a_worker_that_died_before_it_could_pause(trainer, checkpoint, phase, code):
    """Where nothing was to be saved its end is the pause; a save that never came is a failure, and may be resumed."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    run, lock = claims.take(catalog, home)
    catalog.request_pause(run.run_id, checkpoint)
    lock.release()
    recover.recover(catalog, home)
    found = catalog.run(run.run_id)
    assert (found.phase, found.failure_code) == (phase, code)
    assert found.events[-1]["phase"] == summary(trainer, run)["phase"] == phase
    assert (found.pause is not None and found.pause.resources_released) == (phase == "PAUSED")
    assert resume.resume(catalog, home, run.run_id).phase == "QUEUED"
