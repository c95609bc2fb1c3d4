"""`akka-trainer logs`, byte by byte."""

from __future__ import annotations

import os
import pty
import subprocess
from contextlib import closing

import pytest
from support.trainer_program import PROGRAM, TrainerProgram

from akka_optimize.trainer.commands import logs
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.service import background

TERMINAL_BREAKS = OSError  # what reading says once the other side of a terminal has closed


class Following:
    """A log that is followed; `wait` stands for the pause between two looks, and does the next thing on the list."""

    def __init__(self, path):
        self.path, self.todo = path, []
        self.parts = logs.read(path, None, follow=True, sleep=self._wait)

    def _wait(self, _seconds):
        if not self.todo:
            raise KeyboardInterrupt
        self.todo.pop(0)()

    def all(self, *todo):
        """Everything that is read while these things are done, one between two looks."""
        self.todo, told = list(todo), []
        with closing(self.parts):
            try:
                for part in self.parts:
                    told.append(part)
            except KeyboardInterrupt:
                return b"".join(told)
        raise AssertionError("following has no end of its own")


@pytest.fixture
def home(tmp_path):
    """An empty home."""
    return Home.open(tmp_path / "home")


@pytest.fixture
def log(home):
    """A log of one line."""
    path = home.path / background.LOG
    path.write_bytes(b"one\n")
    return path


def add(log, text):
    """Write to the end of a log."""
    with log.open("ab") as file:
        file.write(text)


def test_nothing_is_lost_when_the_log_is_put_aside(home, log, monkeypatch):
    """The last lines of the old log, written since the last look, come before the first ones of the new log."""
    monkeypatch.setattr(background, "MOST_LOG_BYTES", 2)

    def turn():
        add(log, b"two\n")
        os.close(background.open_log(home))
        add(log, b"three\n")

    assert Following(log).all(turn, lambda: add(log, b"four\n")) == b"one\ntwo\nthree\nfour\n"
    assert log.with_name("service.log.1").read_bytes() == b"one\ntwo\n"


def test_a_log_that_is_away_for_a_while_is_waited_for(log):
    """Between one file and the next there may be none; what the old one had is told before."""

    def away():
        add(log, b"two\n")
        log.rename(log.with_name("elsewhere"))

    assert Following(log).all(away, lambda: log.write_bytes(b"three\n")) == b"one\ntwo\nthree\n"


def test_a_log_that_was_emptied_is_read_from_its_beginning(log):
    """As after `> service.log`."""
    assert Following(log).all(lambda: log.write_bytes(b"2\n")) == b"one\n2\n"


def test_a_log_larger_than_a_block_is_read_to_its_end(log):
    """Old and new, many blocks each."""
    old, new = b"a" * (3 * logs.BLOCK) + b"\n", b"b" * (2 * logs.BLOCK + 1)

    def turn():
        add(log, old)
        log.unlink()
        log.write_bytes(new)

    assert Following(log).all(turn) == b"one\n" + old + new


@pytest.mark.parametrize("ends", [b"", b"\n"], ids=["open", "closed"])
def test_the_last_lines_are_found_from_the_end(log, monkeypatch, ends):
    """Whatever the size of a block, they are those of a plain split; a last line may lack its end."""
    monkeypatch.setattr(logs, "BLOCK", 5)
    text = b"\n".join([b"first", b"", b"third, longer than a block", b"4"]) + ends
    log.write_bytes(text)
    lines = text.splitlines(keepends=True)
    for count in range(7):
        assert b"".join(logs.read(log, count, follow=False)) == b"".join(lines[max(0, len(lines) - count) :])


def test_on_a_terminal_control_characters_are_shown(home, log):
    """What a caller's user agent or a path holds is not carried out; text, tabs and line ends are as they are."""
    log.write_bytes("blau\t\x1b[31mrot\x07 ü \x9b2J\xff\n".encode("latin-1") + "ü\n".encode())
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as screen:
        command = [*PROGRAM, "logs", "--home", str(home.path)]
        environ = os.environ | {"PYTHONUTF8": "1"}
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, env=environ):
            os.close(theirs)
            shown = b""
            try:
                while part := screen.read(1 << 16):
                    shown += part
            except TERMINAL_BREAKS:
                pass
    text = shown.decode().replace("\r\n", "\n")
    assert text == "blau\t\\x1b[31mrot\\x07 \ufffd \ufffd2J\ufffd\nü\n"


def test_a_reader_that_leaves_early_is_no_fault(home, log):
    """As in `akka-trainer logs | head -1`."""
    log.write_bytes(b"line\n" * 100_000)
    with TrainerProgram(home.path).spawn("logs") as process:
        assert process.stdout.readline() == "line\n"
        process.stdout.close()
        assert process.stderr.read() == ""


def test_a_log_that_cannot_be_read_is_told(home, capsys):
    """Whatever keeps it from being read is one sentence, with exit code 1."""
    (home.path / background.LOG).mkdir()
    (home.path / "loop").symlink_to("loop")
    below = {"": "is a directory", "version": "not a directory", "loop": "too many", "n" * 300: "file name too long"}
    for name, reason in below.items():
        ended = TrainerProgram(home.path / name)("logs", capsys=capsys)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1)
        assert f"service.log cannot be read: {reason}" in ended.err
