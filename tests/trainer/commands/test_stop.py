"""`akka-trainer stop`, with small programs in the place of a service."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from support.life import until
from support.trainer_program import TrainerProgram

from akka_optimize.trainer.commands import stop
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.processes import Process
from akka_optimize.trainer.service import background

ENDS = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
INTERRUPTED = "signal.signal(signal.SIGINT, lambda *_: os._exit(9))"
DEAF_TO_BOTH = f"{DEAF}; signal.signal(signal.SIGINT, signal.SIG_IGN)"


@pytest.fixture
def home(tmp_path):
    """An empty home."""
    return Home.open(tmp_path / "home")


@pytest.fixture
def service(home):
    """A function that starts a program and writes down that it serves the home; it is ended with the test."""
    processes = []

    def begin(code):
        code = f"import os, signal, sys; {code}; print(flush=True); sys.stdin.read()"
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        processes.append(process)
        process.stdout.readline()
        itself = Process.of(process.pid)
        record = background.Record(itself.pid, itself.born, "http://127.0.0.1:9", "2026-01-01", background.READY)
        background.write(home, record)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def test_it_waits_until_the_service_has_ended(home, service, capsys):
    """One SIGTERM, and its address is named."""
    process = service(ENDS)
    ended = TrainerProgram(home.path)("stop", capsys=capsys)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "the trainer at http://127.0.0.1:9 has stopped\n"
    assert process.wait() == 7


def test_it_waits_no_longer_than_it_may(home, service, capsys):
    """After --timeout the exit code is 3, what would end it at once is said, and the service is left to itself."""
    process = service(DEAF)
    ended = TrainerProgram(home.path)("stop", "--timeout", "0.1", capsys=capsys)
    assert (ended.code, ended.out) == (3, "")
    assert "has not ended after 0.1 s, and goes on ending" in ended.err
    assert "stop --now" in ended.err
    assert process.poll() is None


def test_at_once_is_a_second_signal(home, service, capsys):
    """--now: SIGINT after SIGTERM, for two of a kind may arrive as one."""
    process = service(f"{DEAF}; {INTERRUPTED}")
    assert TrainerProgram(home.path)("stop", "--now", capsys=capsys).code == 0
    assert process.wait() == 9


def test_at_once_ends_also_what_hears_nothing(home, service, capsys, monkeypatch):
    """A service that hears neither signal is killed."""
    monkeypatch.setattr(stop, "AT_ONCE_SECONDS", 0.1)
    process = service(DEAF_TO_BOTH)
    assert TrainerProgram(home.path)("stop", "--now", capsys=capsys).code == 0
    assert process.wait() == -signal.SIGKILL


def test_the_service_of_another_user(home, service, capsys, monkeypatch):
    """That it is not ours to end is one sentence."""

    def refuse(_self, _number):
        raise PermissionError

    process = service(DEAF)
    monkeypatch.setattr(Process, "tell", refuse)
    ended = TrainerProgram(home.path)("stop", capsys=capsys)
    assert (ended.code, f"process {process.pid}, which serves {home.path}, is another user's" in ended.err) == (1, True)


@pytest.mark.parametrize("seconds", ["0", "-1", "3601", "nan", "soon"])
def test_a_time_that_is_none_is_refused(home, service, seconds, capsys):
    """0.1 to 3600 seconds; nothing is told to end."""
    process = service(ENDS)
    ended = TrainerProgram(home.path)("stop", "--timeout", seconds, capsys=capsys)
    assert (ended.code, process.poll()) == (2, None)


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"pid": 1}', b"\xff", b'{"pid": "all"}'])
def test_a_record_that_is_none_names_nobody(home, record, capsys):
    """Whatever is in the file, nobody is told to end."""
    (home.path / background.RECORD).write_bytes(record)
    ended = TrainerProgram(home.path)("stop", capsys=capsys)
    assert (ended.code, "nothing was stopped" in ended.err) == (0, True)


def test_a_process_with_its_number_is_somebody_else(home, service, capsys):
    """After a restart of the machine another program may have the number, and is left alone."""
    process = service(ENDS)
    record = background.running(home.path)
    background.write(home, background.Record(**{**asdict(record), "born": "1@another-start"}))
    assert "nothing was stopped" in TrainerProgram(home.path)("stop", capsys=capsys).err
    assert process.poll() is None
    until(lambda: background.running(home.path) is None, "nobody")


def asdict(record):
    """The record's fields."""
    return {name: getattr(record, name) for name in record.__slots__}
