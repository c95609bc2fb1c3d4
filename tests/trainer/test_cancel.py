"""A run that nobody is at work on is cancelled with its record closed; a worker is asked."""

from __future__ import annotations

import json
import threading

import pytest
from support import branching, life, parents

from akka_optimize import errors
from akka_optimize.trainer import cancel, claims, pause, start, unclosed, verify


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def summary(trainer, run):
    """What the run's record says of it."""
    return json.loads((trainer[1].path / run.folder / "summary.json").read_text())


@pytest.mark.parametrize("paused", [False, True])
def test_a_run_that_waits_is_on_record_as_cancelled(trainer, paused):
    """Also one whose record was closed already, when it was paused; all that happened to it is told."""
    run = start.start(*trainer, life.descriptor())
    if paused:
        pause.pause(*trainer, run.run_id, "save")
    run = cancel.cancel(*trainer, run.run_id[:8])
    told = summary(trainer, run)
    assert (run.phase, told["phase"], told["pause"]) == ("CANCELLED", "CANCELLED", None)
    assert told["endedAt"] == run.ended_at is not None
    assert [event["phase"] for event in told["events"]] == ["PAUSED"] * paused + ["CANCELLED"]
    assert verify.verify(*trainer, run.run_id).mismatches == ()
    assert unclosed.marked(trainer[1]) == ()


def test_a_run_in_hand_is_asked(trainer):
    """Its worker cancels it; until then its record is open."""
    queued = start.start(*trainer, life.descriptor())
    with claims.take(*trainer)[1]:
        run = cancel.cancel(*trainer, queued.run_id)
        assert (run.phase, trainer[0].requests(run.run_id).cancel) == ("PREPARING", True)
        assert not (trainer[1].path / run.folder / "summary.json").exists()
        assert unclosed.marked(trainer[1]) == (run.run_id,)


def test_a_worker_that_is_about_to_let_go_is_waited_for(trainer):
    """It paused the run, takes away the note that its record is open, and leaves: the record is closed all the same."""
    catalog, home = trainer
    run = pause.pause(catalog, home, start.start(catalog, home, life.descriptor()).run_id, "save")
    lock = claims.hold(home, run)

    def leave():
        unclosed.clear(home, run.run_id)
        lock.release()

    later = threading.Timer(0.2, leave)
    later.start()
    try:
        assert cancel.cancel(catalog, home, run.run_id).phase == "CANCELLED"
    finally:
        later.join()
    assert summary(trainer, run)["phase"] == "CANCELLED"
    assert unclosed.marked(home) == ()


def test_a_worker_that_stays_is_not_waited_for_long(trainer, monkeypatch):
    """The run is cancelled; whoever comes next closes its record."""
    monkeypatch.setattr(claims, "PATIENCE_SECONDS", 0.05)
    catalog, home = trainer
    run = pause.pause(catalog, home, start.start(catalog, home, life.descriptor()).run_id, "save")
    with claims.hold(home, run):
        assert cancel.cancel(catalog, home, run.run_id).phase == "CANCELLED"
    assert unclosed.marked(home) == (run.run_id,)
    cancel.recover.recover(catalog, home)
    assert summary(trainer, run)["phase"] == "CANCELLED"


def test_every_run_of_a_submission(trainer):
    """Those that wait end at once, each with its record; one that is paused, too; one that has ended stays."""
    catalog, home = trainer
    parent = parents.trained(catalog, home)
    points = [{parents.RATE: rate * 1e-4} for rate in (1, 2, 3)]
    children = branching.branch(catalog, home, branching.snapshot_of(catalog, parent, 10), *points, token="many")
    pause.pause(catalog, home, children[1].run_id, "save")
    done = parents.carry_out(catalog, home)
    page = cancel.cancel_submission(catalog, home, "many")
    assert {run.run_id: run.phase for run in page.items} == {
        run.run_id: "COMPLETED" if run.run_id == done.run_id else "CANCELLED" for run in children
    }
    for run in page.items:
        assert summary(trainer, run)["phase"] == run.phase
        assert verify.verify(catalog, home, run.run_id).mismatches == ()
    assert unclosed.marked(home) == ()


@pytest.mark.parametrize("phase", ["COMPLETED", "FAILED", "CANCELLED"])
def test_what_has_ended_is_refused(trainer, phase):
    """Its record is not touched."""
    catalog, home = trainer
    run = parents.trained(catalog, home)
    catalog.set_phase(run.run_id, phase, only_from=("COMPLETED",))
    with pytest.raises(errors.Refused, match=f"is {phase}"):
        cancel.cancel(catalog, home, run.run_id)
    assert unclosed.marked(home) == ()


def test_an_unknown_submission(trainer):
    """Nothing is cancelled."""
    with pytest.raises(errors.NotFound):
        cancel.cancel_submission(*trainer, "nothing")
