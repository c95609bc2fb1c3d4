"""Processes that were written down are told apart from those that have their number now."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from akka_optimize.trainer import processes
from akka_optimize.trainer.processes import Process

SLEEPER = [sys.executable, "-c", "import sys; sys.stdin.read()"]
PATIENCE_SECONDS = 30.0


@pytest.fixture
def sleeper():
    """A process that waits for the end of its input, and is ended with the test."""
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture(params=[True, False], ids=["with-handles", "without-handles"])
def handles(request, monkeypatch):
    """Systems that have handles of processes, and others."""
    if not request.param:
        monkeypatch.delattr(os, "pidfd_open", raising=False)


def test_what_is_written_down_is_read_back():
    """A process and its text are one."""
    mine = Process.of(os.getpid())
    assert Process.parse(f"{mine}\n") == mine
    assert mine.alive()


@pytest.mark.parametrize("text", ["", "\n", "12", "one 2", "-1 5", "0 ?", "1 ?", "99999999999 5", "\0\0\0 1"])
def test_what_is_no_process_is_none(text):
    """A file that was cut off or spoilt names nobody, and never the first process or a group."""
    assert Process.parse(text) is None


def test_a_number_that_passed_on_is_somebody_else(handles, sleeper):
    """The process that has the number now was born at another time: it is not the one, and is not told anything."""
    other = Process(sleeper.pid, "1@another-start-of-the-machine")
    assert not other.alive()
    assert not other.tell(signal.SIGKILL)
    assert Process.of(sleeper.pid).alive()
    assert sleeper.poll() is None


def test_who_is_told_hears(handles, sleeper):
    """The signal arrives; afterwards the process is gone, also before its parent has looked at it."""
    process = Process.of(sleeper.pid)
    assert process.tell(signal.SIGKILL)
    assert processes.wait([process], PATIENCE_SECONDS) == []
    assert not process.alive()
    assert sleeper.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    assert not process.tell(signal.SIGTERM)


def test_waiting_has_an_end(handles, sleeper):
    """Those that are still there are named."""
    process = Process.of(sleeper.pid)
    assert processes.wait([process, Process(sleeper.pid, "1@earlier")], 0.05) == [process]


def test_without_proc_the_number_has_to_do(sleeper, monkeypatch, tmp_path):
    """Where the system tells nothing of a process, one with the number is taken for it."""
    monkeypatch.setattr(processes, "PROC", tmp_path)
    process = Process.of(sleeper.pid)
    assert process.born == processes.UNKNOWN
    assert process.alive()
    sleeper.kill()
    sleeper.wait(PATIENCE_SECONDS)
    assert not process.alive()
