"""How many workers a home may have, and who has which place."""

from __future__ import annotations

import os
import signal

import pytest

from akka_optimize import errors
from akka_optimize.trainer import slots
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.processes import Process


@pytest.fixture
def home(tmp_path):
    """An empty home."""
    return Home.open(tmp_path / "home")


def test_one_unless_somebody_says_so(home):
    """A home begins with one worker, and remembers another number."""
    assert slots.count(home) == 1
    slots.set_count(home, 3)
    assert slots.count(Home.open(home.path)) == 3


@pytest.mark.parametrize("workers", [0, -1, 65])
def test_a_number_out_of_range_is_refused(home, workers):
    """1 to 64, and the setting stays."""
    slots.set_count(home, 64)
    with pytest.raises(errors.Invalid, match="1 to 64"):
        slots.set_count(home, workers)
    assert slots.count(home) == 64


@pytest.mark.parametrize("text", ["", "two", "0", "65", "-1", "1.5", "\xff", "9" * 5000])
def test_a_setting_that_is_no_number_is_refused(home, text):
    """A file that somebody spoilt is named, with what writes it anew."""
    (home.path / "workers").write_text(text, "latin-1")
    with pytest.raises(errors.Refused, match="number of workers") as caught:
        slots.count(home)
    assert "--workers" in caught.value.hint


def test_each_place_is_taken_once(home):
    """There are as many as the setting says; one that was let go of is free again."""
    slots.set_count(home, 3)
    taken = [slots.take(home) for _ in range(4)]
    assert [lock and lock.name for lock in taken] == ["worker-0", "worker-1", "worker-2", None]
    taken[1].release()
    with slots.take(home) as again:
        assert again.name == "worker-1"


def test_a_place_may_cease_to_be_one(home):
    """Where the home has fewer workers than before, those in the last places are no longer allowed."""
    slots.set_count(home, 2)
    first, second = slots.take(home), slots.take(home)
    assert slots.allowed(home, second)
    slots.set_count(home, 1)
    assert [slots.allowed(home, lock) for lock in (first, second)] == [True, False]


def test_who_has_a_place_is_written_down(home):
    """For as long as the place is held; a place that the home no longer has counts as well."""
    slots.set_count(home, 2)
    first, second = slots.take(home), slots.take(home)
    slots.set_count(home, 1)
    assert slots.holders(home) == []
    with first, second, slots.signed(second):
        assert slots.holders(home) == [Process.of(os.getpid())]
    assert slots.holders(home) == []


def test_a_worker_that_died_has_no_place(home):
    """What a process wrote that is gone, or that another one with its number did not write, names nobody."""
    with slots.take(home) as lock:
        slots.sign(lock, Process(os.getpid(), "1@another-start-of-the-machine"))
        assert slots.holders(home) == []
        os.pwrite(lock.fileno(), b"\xff\xfe garbled", 0)
        assert slots.holders(home) == []


def test_a_worker_of_somebody_else_is_not_told(monkeypatch):
    """Those that we may not reach are named, the others are told."""
    told = []

    def tell(self, number):
        if self.pid == 2:
            raise PermissionError
        told.append((self.pid, number))

    monkeypatch.setattr(Process, "tell", tell)
    assert slots.tell([Process(2), Process(3)], signal.SIGTERM) == [Process(2)]
    assert told == [(3, signal.SIGTERM)]
