"""What a service sees to by itself while it serves, look by look."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.trainer import launch, recover, slots, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.service import keeping
from akka_optimize.trainer.service.keeping import PAUSE, Keeper

PATIENCE_SECONDS = 2.0


@pytest.fixture
def home(tmp_path):
    """A home with one run in its queue."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        start.start(catalog, home, life.descriptor())
    return home


class Kept:
    """A keeper whose clock the test moves; `said` is what it found."""

    def __init__(self, home):
        self.said, self.now = [], 0.0
        self.keeper = Keeper(home, PATIENCE_SECONDS, self.said.append, clock=lambda: self.now)

    def look(self, at):
        """One look at this second."""
        self.now = at
        self.keeper.look()


@pytest.fixture
def begun(monkeypatch):
    """How many workers each call would have started, all of which are pretended."""
    counts = []

    def pretend(_home):
        counts.append(1)
        return 1

    monkeypatch.setattr(launch, "ensure_worker", pretend)
    return counts


def refuse_processes(monkeypatch, number):
    """Have the system refuse every new process."""

    def refuse(*_args, **_kwargs):
        raise OSError(number, "as the system says it")

    monkeypatch.setattr(subprocess, "Popen", refuse)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.EAGAIN, errors.Exhausted), (errno.ENOMEM, errors.Exhausted), (errno.EACCES, errors.Refused)],
)
def test_a_process_that_cannot_be_started_leaves_its_place_free(home, monkeypatch, number, kind):
    """One sentence and not the system's exception; the next worker can have the place."""
    refuse_processes(monkeypatch, number)
    with pytest.raises(kind, match="no process can be started for a worker: as the system says it"):
        launch.ensure_worker(home)
    with slots.take(home) as place:
        assert place is not None
    assert slots.holders(home) == []


@pytest.mark.parametrize("where", ["a process", "a file"])
def test_a_keeper_survives_what_the_system_refuses(home, monkeypatch, where):
    """It says so once, goes on looking, and does its work when it can again."""
    kept, tried, refusing, popen = Kept(home), [], threading.Event(), subprocess.Popen
    refusing.set()
    monkeypatch.setattr(keeping, "SECONDS", 0.01)
    if where == "a file":
        monkeypatch.setattr(launch, "ensure_worker", lambda _home: 0)

    def refuse(*_args, **_kwargs):
        tried.append(refusing.is_set())
        if refusing.is_set():
            raise OSError(errno.EMFILE, "Too many open files")
        return popen([sys.executable, "-c", ""]) if where == "a process" else ([], None)

    monkeypatch.setattr(*((subprocess, "Popen") if where == "a process" else (recover, "end_lost")), refuse)
    kept.keeper.start()
    try:
        life.until(lambda: len(tried) > 2, "a third look")
        assert len(kept.said) == 1
        assert "too many open files" in kept.said[0]
        refusing.clear()
        life.until(lambda: not tried[-1], "a look that goes well")
    finally:
        kept.keeper.stop()
    assert "keeper" not in {thread.name for thread in threading.enumerate()}
    life.until(lambda: launch.reap() is not None and not launch._started, "its workers to end")


def test_a_worker_that_fails_is_not_replaced_at_once(home, monkeypatch, begun):
    """After one failed nothing is started for a while, after the next for twice as long; up to five minutes."""
    failed, kept = [[1], [], [1], [], []], Kept(home)
    monkeypatch.setattr(launch, "reap", lambda: failed.pop(0))
    kept.look(0.0)
    assert begun == []
    kept.look(PAUSE)
    assert len(begun) == 1
    kept.look(PAUSE + 1)
    kept.look(3 * PAUSE)
    assert len(begun) == 1
    kept.look(3 * PAUSE + 1)
    assert len(begun) == 2


def test_the_longest_pause(home, monkeypatch, begun):
    """However often workers failed, one is tried again within five minutes."""
    kept = Kept(home)
    monkeypatch.setattr(launch, "reap", lambda: [1])
    for _ in range(20):
        kept.look(0.0)
    monkeypatch.setattr(launch, "reap", lambda: [0])
    kept.look(keeping.LONGEST_PAUSE - 1)
    assert begun == []
    kept.look(keeping.LONGEST_PAUSE)
    assert len(begun) == 1


def test_an_empty_queue_needs_no_worker(tmp_path, begun):
    """Nothing is started where nothing waits."""
    home, catalog = life.open_home(tmp_path)
    catalog.close()
    kept = Kept(home)
    kept.look(0.0)
    assert (begun, kept.said) == ([], [])


def test_lost_runs_are_told(home, begun):
    """A run that a worker claimed and that nobody holds is ended by the next look, and said."""
    with Catalog.open(home) as catalog:
        run = catalog.claim()
        kept = Kept(home)
        kept.look(0.0)
        assert catalog.run(run.run_id).failure_code == "WORKER_LOST"
    assert [sentence.split(":")[0] for sentence in kept.said] == [f"run {run.run_id} is FAILED"]


def test_a_trouble_is_said_once_until_it_is_over(home, monkeypatch, begun):
    """The same sentence is not repeated; after a look that went well it would be news again."""
    kept, faults = Kept(home), ["a full disk", "a full disk", "no rights", None, "no rights"]

    def lost(_catalog, _home):
        fault = faults.pop(0)
        return [], fault and errors.Refused(fault)

    monkeypatch.setattr(recover, "end_lost", lost)
    for _ in range(5):
        kept.look(0.0)
    assert kept.said == ["a full disk", "no rights", "no rights"]


def test_stopped_it_looks_no_more(home, monkeypatch, begun):
    """Woken after the end, it does nothing; one that was never started can be stopped as well."""
    kept = Kept(home)
    kept.keeper.start()
    life.until(lambda: begun, "a look")
    kept.keeper.stop()
    kept.keeper.wake()
    looks = len(begun)
    assert not kept.keeper._thread.is_alive()
    assert len(begun) == looks
    Kept(home).keeper.stop()
