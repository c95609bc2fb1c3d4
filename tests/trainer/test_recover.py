"""Runs whose worker died are ended by whoever comes next; runs whose worker lives are left alone."""

from __future__ import annotations

import hashlib
import json
import threading

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer import claims, closing, delete, recover, start


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def claimed(trainer, *, step=0):
    """A run that somebody claimed, recorded up to `step`, and does not hold."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    run, lock = claims.take(catalog, home)
    lock.release()
    if step:
        catalog.set_phase(run.run_id, "TRAINING", only_from=("PREPARING",))
        chunk = pb.MetricsChunk(attempt=1, steps=[step], columns=[pb.MetricsColumn(name="loss", values=[2.5])])
        catalog.record(run.run_id, [chunk], observed_step=step, loss=2.5)
    return catalog.run(run.run_id)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        pytest.param(0, "before its first update", id="while-preparing"),
        pytest.param(7, "after update 7 of 20", id="in-mid-run"),
    ],
)
def test_a_lost_run_is_failed_with_what_is_known(trainer, step, said):
    """FAILED, WORKER_LOST, resumable, and a sentence with the last recorded update."""
    run = claimed(trainer, step=step)
    (note,) = recover.recover(*trainer)
    after = trainer[0].run(run.run_id)
    assert (after.phase, after.failure_code, after.resumable) == ("FAILED", "WORKER_LOST", True)
    assert said in after.failure_reason
    assert run.run_id in note
    assert recover.recover(*trainer) == ()


def test_a_lost_run_gets_its_last_files(trainer):
    """The record of a lost run is closed with what was recorded, and what was half written is gone."""
    run = claimed(trainer, step=7)
    folder = trainer[1].path / run.folder
    (folder / "snapshots" / ".tmp-5").mkdir()
    recover.recover(*trainer)
    assert (folder / "metrics.csv").read_text().splitlines()[1].startswith("7,1,2.5,")
    assert json.loads((folder / "summary.json").read_text())["failureCode"] == "WORKER_LOST"
    assert list((folder / "snapshots").iterdir()) == []
    body, _, last = (folder / "checksums.txt").read_text().rstrip("\n").rpartition("\n")
    digest = hashlib.sha256(f"{body}\n".encode()).hexdigest()
    assert last == f"# {digest}  checksums.txt"


def test_a_held_run_is_left_alone(trainer):
    """As long as somebody holds the run's lock, its worker lives."""
    run = claimed(trainer, step=7)
    with claims.hold(trainer[1], run):
        assert recover.recover(*trainer) == ()
        assert trainer[0].run(run.run_id).phase == "TRAINING"
    assert len(recover.recover(*trainer)) == 1


def test_a_lost_run_that_was_being_cancelled_is_cancelled(trainer):
    """Whoever asked for the end gets it, also when the worker died on the way."""
    run = claimed(trainer, step=7)
    trainer[0].request_cancel(run.run_id)
    recover.recover(*trainer)
    after = trainer[0].run(run.run_id)
    assert (after.phase, after.failure_code) == ("CANCELLED", None)


def test_queued_runs_are_nobodys(trainer):
    """A run that waits is not lost."""
    run = start.start(*trainer, life.descriptor())
    assert recover.recover(*trainer) == ()
    assert trainer[0].run(run.run_id).phase == "QUEUED"


def test_nothing_is_judged_in_the_middle_of_a_claim(trainer, monkeypatch):
    """Between a claim and its lock a living run looks abandoned; nobody looks until the claim is settled."""
    run = claimed(trainer)
    monkeypatch.setattr(claims, "PATIENCE_SECONDS", 0.05)
    with trainer[1].lock(claims.CLAIM):
        assert recover.recover(*trainer) == ()
    assert trainer[0].run(run.run_id).phase == "PREPARING"


def test_a_living_run_is_never_marked(trainer):
    """While one thread claims and ends 40 runs, others recover all the time and find none of them lost."""
    catalog, home = trainer
    for _ in range(40):
        start.start(catalog, home, life.descriptor())
    done, notes = threading.Event(), []

    def keep_recovering():
        while not done.is_set():
            notes.extend(recover.recover(catalog, home))

    others = [threading.Thread(target=keep_recovering) for _ in range(2)]
    for other in others:
        other.start()
    try:
        while (taken := claims.take(catalog, home)) is not None:
            run, lock = taken
            with lock:
                assert catalog.set_phase(run.run_id, "COMPLETED", only_from=("PREPARING",)) is not None
    finally:
        done.set()
        for other in others:
            other.join()
    assert notes == []
    assert catalog.counts()["COMPLETED"] == 40


@pytest.mark.parametrize("place", ["set_phase", "close"])
def test_a_full_disk_does_not_stand_in_the_way(trainer, monkeypatch, place):
    """Where the end of a run cannot be written, the other commands still work, and the next one tries again."""
    run = claimed(trainer, step=7)

    def full(*args, **kwargs):
        raise errors.Exhausted("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(*((trainer[0], "set_phase") if place == "set_phase" else (closing, "close")), full)
        assert "the disk is full" in recover.recover(*trainer)[-1]
    recover.recover(*trainer)
    assert trainer[0].run(run.run_id).phase == "FAILED"


def full(*args, **kwargs):
    """What anything does on a full disk."""
    raise errors.Exhausted("the disk is full")


def test_a_record_that_cannot_be_closed_is_tried_again(trainer, monkeypatch):
    """The first command says why not, a later one closes it, and the one after that has nothing to do."""
    run = claimed(trainer, step=7)
    with monkeypatch.context() as patch:
        patch.setattr(closing, "close", full)
        assert recover.recover(*trainer)[-1] == f"the record of run {run.run_id} could not be closed: the disk is full"
    assert recover.recover(*trainer) == ()
    assert json.loads((trainer[1].path / run.folder / "summary.json").read_text())["failureCode"] == "WORKER_LOST"
    monkeypatch.setattr(closing, "close", lambda *_, **__: pytest.fail("closed twice"))
    assert recover.recover(*trainer) == ()


@pytest.mark.parametrize("act", ["set_phase", "close"])
def test_one_lost_run_stands_in_the_way_of_no_other(trainer, monkeypatch, act):
    """Of three lost runs each but the first can be ended and closed, and is."""
    runs = [claimed(trainer, step=7) for _ in range(3)]
    where = trainer[0] if act == "set_phase" else closing
    really = getattr(where, act)

    def but_for_the_first(*args, **kwargs):
        first = any(getattr(each, "run_id", each) == runs[0].run_id for each in args)
        return full() if first else really(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(where, act, but_for_the_first)
        recover.recover(*trainer)
    closed = [(trainer[1].path / run.folder / "checksums.txt").exists() for run in runs]
    assert closed == [False, True, True]
    recover.recover(*trainer)
    assert (trainer[1].path / runs[0].folder / "checksums.txt").exists()


@pytest.mark.parametrize("act", ["delete", "remove"])
def test_a_record_that_is_gone_is_forgotten(trainer, monkeypatch, act):
    """Neither a run that was deleted nor one whose folder was removed is tried for ever."""
    catalog, home = trainer
    run = claimed(trainer, step=7)
    with monkeypatch.context() as patch:
        patch.setattr(closing, "close", full)
        recover.recover(*trainer)
    if act == "delete":
        delete.delete(catalog, home, run.run_id)
    else:
        (home.path / run.folder).rename(home.path / "elsewhere")
    assert len(list(home.unclosed.iterdir())) == 1
    assert recover.recover(*trainer) == ()
    assert list(home.unclosed.iterdir()) == []
    assert list(home.runs.iterdir()) == []


def test_what_somebody_puts_among_the_marks_is_no_run(trainer, monkeypatch):
    """A file there that is named like the beginning of an id closes nothing."""
    run = claimed(trainer, step=7)
    recover.recover(*trainer)
    (trainer[1].unclosed / run.run_id[:4]).touch()
    (trainer[1].unclosed / "a note").touch()
    monkeypatch.setattr(closing, "close", lambda *_, **__: pytest.fail("closed twice"))
    assert recover.recover(*trainer) == ()
    assert list(trainer[1].unclosed.iterdir()) == []
