"""Saves beside the training: one at a time, waited for, and never failing without a word."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from akka_optimize.trainer.worker.saver import Saver


def test_training_goes_on_while_a_save_is_written():
    """Handing a save over waits for nothing; finishing waits for it."""
    go_on, order = threading.Event(), []
    with Saver() as saver:
        saver.start(1, lambda: (go_on.wait(30), order.append("saved")))
        order.append("trained")
        saver.check()
        go_on.set()
        saver.finish()
        assert order == ["trained", "saved"]


def test_one_save_at_a_time():
    """The next one waits for the one before."""
    running, most = [], []

    def write():
        running.append(1)
        most.append(len(running))
        running.pop()

    with Saver() as saver:
        for step in range(20):
            saver.start(step, write)
    assert most == [1] * 20
    assert saver.step == 19


@pytest.mark.parametrize("how", ["check", "finish", "start", "end"])
def test_a_failure_is_raised_in_the_trainings_thread(how):
    """At the next update, at the next save, or at the end; and once."""
    done = threading.Event()

    def fail():
        done.set()
        raise OSError("no room")

    saver = Saver()

    def look():
        with saver:
            saver.start(1, fail)
            done.wait(30)
            while how == "check":
                saver.check()
            if how == "finish":
                saver.finish()
            if how == "start":
                saver.start(2, lambda: None)

    with pytest.raises(OSError, match="no room"):
        look()
    assert saver.settled() is None


def test_what_ended_the_training_hides_no_other():
    """Where training itself failed, that is what is raised, after the save was waited for."""
    order = []

    def write():
        order.append("saved")
        raise OSError("late")

    def train():
        with Saver() as saver:
            saver.start(1, write)
            raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        train()
    assert order == ["saved"]


def test_no_thread_outlives_it():
    """Once it has ended, no thread of its own is left."""
    with Saver() as saver:
        saver.start(1, lambda: None)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("save")]


def test_what_was_held_is_free_once_it_is_written():
    """The copy of a training state can be overwritten by the next one."""

    class Held:
        def write(self):
            return self

    with Saver() as saver:
        held = Held()
        gone = weakref.ref(held)
        saver.start(1, held.write)
        del held
        saver.finish()
        gc.collect()
        assert gone() is None
