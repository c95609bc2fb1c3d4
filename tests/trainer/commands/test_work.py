"""`akka-trainer work`: every worker hears as many signals as the command, whenever they come."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.trainer import launch, slots, start
from akka_optimize.trainer.commands.work import Foreground


@dataclass
class Worker:
    """Stands for a process; `told` is how many signals it got."""

    told: int = 0
    status: int = 0

    def terminate(self):
        """One more."""
        self.told += 1

    def wait(self):
        """How it ended."""
        return self.status


@pytest.fixture
def home(tmp_path):
    """A home with three runs in its queue, and places for three workers."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        for _ in range(3):
            start.start(catalog, home, life.descriptor())
    slots.set_count(home, 3)
    return home


@pytest.fixture
def begin(home, monkeypatch):
    """A function that starts a foreground; its workers are made by `make`, from their number."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    workers, locks, foreground = [], [], Foreground()

    def begin(make):
        def start(_home, lock):
            locks.append(lock)
            workers.append(make(len(workers)))
            return workers[-1]

        monkeypatch.setattr(launch, "start", start)
        foreground.start(home)
        return foreground, workers

    yield begin
    for number, handler in before.items():
        signal.signal(number, handler)
    for lock in locks:
        lock.release()


@pytest.mark.parametrize("signals", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM)], ids=["once", "twice"])
@pytest.mark.parametrize("during", [0, 1])
def test_a_worker_that_is_just_being_started_is_told(begin, signals, during):
    """Told between the start of a process and its entry in the list, that one ends too; no other is started, and nobody
    hears more than there was, for a second signal means at once."""

    def make(place):
        worker = Worker()
        if place == during:
            for number in signals:
                os.kill(os.getpid(), number)
        return worker

    foreground, workers = begin(make)
    assert [worker.told for worker in workers] == [len(signals)] * (during + 1)
    with pytest.raises(errors.Interrupted):
        foreground.wait()


def test_told_once_all_are_started(begin):
    """Each signal reaches each worker once."""
    _, workers = begin(lambda _: Worker())
    os.kill(os.getpid(), signal.SIGINT)
    assert [worker.told for worker in workers] == [1, 1, 1]
    os.kill(os.getpid(), signal.SIGTERM)
    assert [worker.told for worker in workers] == [2, 2, 2]


def test_those_that_could_be_started_go_on(begin, capsys):
    """Where the system has room for one process and not for the next, the one carries out the queue."""

    def make(place):
        if place == 1:
            raise errors.Exhausted("no process can be started for a worker")
        return Worker()

    foreground, workers = begin(make)
    assert len(workers) == 1
    told = capsys.readouterr().err
    assert "Warning: no process can be started for a worker" in told
    assert "queued runs: 3; workers started: 1\n" in told
    foreground.wait()


def test_without_a_single_worker_it_fails(begin):
    """What the system says is raised."""

    def make(_):
        raise errors.Exhausted("no process can be started for a worker")

    with pytest.raises(errors.Exhausted, match="no process"):
        begin(make)


@pytest.mark.parametrize(("taken", "words"), [(1, "1 place\n"), (2, "2 places\n")])
def test_places_of_others_are_counted(begin, home, taken, words, capsys):
    """One place is one place."""
    others = [slots.take(home) for _ in range(taken)]
    begin(lambda _: Worker())
    assert f"workers started: {3 - taken}; other workers have {words}" in capsys.readouterr().err
    for lock in others:
        lock.release()


def test_workers_that_fail_are_counted(begin):
    """The exit code is that of a failure, and how many of how many is said."""
    foreground, _ = begin(lambda place: Worker(status=int(place != 1)))
    with pytest.raises(errors.Refused, match="2 of 3 workers"):
        foreground.wait()
