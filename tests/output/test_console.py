"""The two streams."""

from __future__ import annotations

import errno
import io
import os
import pty
import sys

import pytest

from akka_optimize.output.console import RED_BOLD, Console, OutputClosed, Unwritable


class Stream(io.TextIOWrapper):
    """A stream in memory that may say that it is a terminal."""

    def __init__(self, *, terminal: bool = False, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.terminal = terminal

    def isatty(self) -> bool:
        """As told."""
        return self.terminal

    @property
    def written(self) -> str:
        """Everything so far."""
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def streams(monkeypatch):
    """Set stdout and stderr for one test."""

    def replace(*, terminal: bool = False, encoding: str = "utf-8") -> tuple[Stream, Stream]:
        out, err = (Stream(terminal=terminal, encoding=encoding) for _ in range(2))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        return out, err

    return replace


@pytest.mark.parametrize("terminal", [True, False])
def test_data_is_untouched_utf8(streams, terminal):
    """JSON passes as it is, whatever the terminal's encoding."""
    out, _ = streams(terminal=terminal, encoding="ascii")
    Console({}).data('{"é":"\x1b"}\n')
    assert out.buffer.getvalue() == '{"é":"\x1b"}\n'.encode()


def test_text_on_a_terminal_shows_control_characters(streams):
    """An escape sequence in a stored name is seen, not obeyed; lines and tabs stay."""
    out, _ = streams(terminal=True)
    Console({}).text("a\x1b[31m\tb\n")
    assert out.written == "a\\x1b[31m\tb\n"


def test_text_in_a_pipe_is_untouched(streams):
    """What another program reads is what was stored."""
    out, _ = streams()
    Console({}).text("a\x1b[31m\n")
    assert out.written == "a\x1b[31m\n"


def test_text_fits_the_encoding(streams):
    """A dash that the locale cannot show does not end the command."""
    out, err = streams(encoding="ascii")
    Console({}).text("—\n")
    Console({}).say("—")
    assert (out.written, err.written) == ("\\u2014\n", "\\u2014\n")


def test_stored_bytes_are_untouched_in_a_pipe_and_safe_on_a_terminal(streams):
    """A log that holds escape sequences and broken UTF-8, split anywhere."""
    chunks = [b"a\x1b[3", b"1m\xc3", b"\xa9\xff\n", b"end\xc3"]
    out, _ = streams()
    Console({}).stored(chunks)
    assert out.buffer.getvalue() == b"".join(chunks)
    out, _ = streams(terminal=True)
    Console({}).stored(chunks)
    assert out.written == "a\\x1b[31mé\\xff\nend\\xc3"


def test_everything_else_goes_to_stderr(streams):
    """stdout carries the result and nothing else."""
    out, err = streams()
    console = Console({})
    console.say("note")
    console.failure("what\x07", field="a.b", hint="do")
    assert out.written == ""
    assert err.written == "note\nError: what\\x07\n  field: a.b\n  hint: do\n"


@pytest.mark.parametrize(
    ("terminal", "environ", "colored"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": ""}, False),
        (True, {}, False),
        (False, {"TERM": "xterm"}, False),
        (False, {"TERM": "xterm", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
    ],
)
def test_colour_only_on_a_terminal_without_no_color(streams, terminal, environ, colored):
    """A terminal that says what it is, and is not a dumb one; and nothing forces it elsewhere."""
    _, err = streams(terminal=terminal)
    Console(environ).failure("what")
    assert (RED_BOLD in err.written) is colored


def test_a_closed_stdout_says_so(monkeypatch):
    """`>&-` is an error with a reason."""
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(Unwritable, match="standard output is closed") as failure:
        Console({}).data("x")
    assert failure.value.exit_code == 1


def test_a_closed_stderr_is_no_fault(monkeypatch):
    """There is nobody to tell; the command goes on."""
    monkeypatch.setattr(sys, "stderr", None)
    Console({}).say("x")
    Console({}).failure("x")


class Failing(io.RawIOBase):
    """A stream whose every write fails."""

    def __init__(self, number: int) -> None:
        self.number = number

    def writable(self) -> bool:
        """So that it can be buffered."""
        return True

    def write(self, _: object) -> int:
        """Fail."""
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize(
    ("number", "expected", "message"),
    [
        (errno.EPIPE, OutputClosed, "^$"),
        (errno.ENOSPC, Unwritable, "the output could not be written: No space left on device"),
        (errno.EIO, Unwritable, "the output could not be written: Input/output error"),
    ],
)
def test_what_cannot_be_written_ends_the_command(monkeypatch, number, expected, message):
    """A reader that left is no error; a full disk is one."""
    raw = Failing(number)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8"))
    with pytest.raises(expected, match=message):
        Console({}).data("x" * 100)
    monkeypatch.setattr(raw, "write", len)  # or the buffer complains when it is thrown away


def test_a_question_needs_two_terminals(monkeypatch):
    """One to read it on, one to answer it."""
    for terminals in ([True, True], [True, False], [False, True]):
        monkeypatch.setattr(sys, "stdin", Stream(terminal=terminals[0]))
        monkeypatch.setattr(sys, "stderr", Stream(terminal=terminals[1]))
        assert Console({}).can_ask() is all(terminals)


def test_a_question_is_put_on_stderr_and_read_from_stdin(monkeypatch, streams):
    """The answer comes without its newline; None at the end of input."""
    out, err = streams()
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
    assert Console({}).ask("Go? ") == "yes"
    assert Console({}).ask("Go? ") is None
    assert (out.written, err.written) == ("", "Go? Go? \n")


def test_a_real_terminal_is_known(monkeypatch):
    """Not only our double of one."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, os.fdopen(ours, "rb"):
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(sys, "stdin", terminal)
        assert Console({}).can_ask()
