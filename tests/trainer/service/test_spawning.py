"""Starting a service in the background, with other programs in its place: what its starter makes of them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from akka_optimize import errors
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.processes import Process
from akka_optimize.trainer.service import background, spawning
from akka_optimize.trainer.service.asked import Asked

PATIENCE_SECONDS = 30.0


@pytest.fixture
def home(tmp_path):
    """An empty home."""
    return Home.open(tmp_path / "home")


@pytest.fixture
def begin(home, monkeypatch):
    """Start a service that is this code instead, with `report` the descriptor; (address or error, what was said)."""
    popen, processes, said = subprocess.Popen, [], []

    def pretend(command, **options):
        code = f"import os, sys, time; report = {command[-1]}; {begin.code}"
        processes.append(popen([sys.executable, "-c", code], **options))
        return processes[-1]

    def begin(code, timeout=PATIENCE_SECONDS):
        begin.code = code
        return spawning.started(home, Asked("127.0.0.1", 0, home.path), timeout, said.append)

    monkeypatch.setattr(subprocess, "Popen", pretend)
    begin.said, begin.processes = said, processes
    yield begin
    for process in processes:
        process.returncode = None  # it may have been set aside on purpose
        process.kill()
        process.wait()


def test_the_address_is_what_it_tells(begin):
    """Also where it comes in pieces; the process goes on."""
    code = """os.write(report, b'{"address": "http://127'); time.sleep(0.05); os.write(report, b'.0.0.1:9"}\\n')"""
    assert begin(f"{code}; time.sleep(60)") == "http://127.0.0.1:9"
    assert Process.of(begin.processes[0].pid).alive()


def test_its_error_is_raised(begin):
    """With its kind, sentence and hint."""
    word = '{"error": "the port is taken", "hint": "name another", "field": null, "kind": "Conflict"}'
    with pytest.raises(errors.Conflict, match="the port is taken") as caught:
        begin(f"os.write(report, b'{word}\\n')")
    assert caught.value.hint == "name another"


@pytest.mark.parametrize(
    ("end", "how"), [("sys.exit(3)", "with exit code 3"), ("os.kill(os.getpid(), 9)", "by signal 9")]
)
def test_one_that_ends_without_a_word(begin, home, end, how):
    """Its last lines of this start are shown, no earlier ones, and how it ended; half a word is none."""
    (home.path / background.LOG).write_text("of an earlier start\n")
    with pytest.raises(errors.Refused, match=f"ended before it was ready, {how}") as caught:
        begin(f"""print(*range(9), sep='\\n', flush=True); os.write(report, b'{{"addr'); {end}""")
    assert begin.said == [f"  {line}" for line in range(4, 9)]
    assert str(home.path / background.LOG) in caught.value.hint


def test_one_that_takes_long_goes_on(begin):
    """The starter says so after its time, and leaves it alone."""
    with pytest.raises(errors.TimedOut, match="goes on starting in process"):
        begin("time.sleep(60)", timeout=0.1)
    assert Process.of(begin.processes[0].pid).alive()


def test_a_process_that_cannot_be_started(home, monkeypatch):
    """One sentence, and no descriptor is left open."""

    def refuse(*_args, **_kwargs):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(errors.Exhausted, match="no process can be started for the service"):
        spawning.started(home, Asked("127.0.0.1", 0, home.path), 1.0, print)
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_log_that_cannot_be_written(home):
    """It is named, nothing is started, and no descriptor is left open."""
    (home.path / background.LOG).mkdir()
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(errors.Refused, match=r"service\.log cannot be used"):
        spawning.started(home, Asked("127.0.0.1", 0, home.path), 1.0, print)
    assert set(os.listdir("/proc/self/fd")) == before
