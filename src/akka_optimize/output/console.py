"""The two streams of a command: the result on stdout, everything else on stderr. Nothing else writes to them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from akka_optimize import errors

NO_COLORS = frozenset({"", "dumb"})  # values of TERM
RED_BOLD, RESET = "\x1b[1;31m", "\x1b[0m"


class Unwritable(errors.AkkaError):
    """stdout is closed, or cannot be written."""


class OutputClosed(BaseException):
    """Whoever read stdout has gone; the command ends quietly. No Exception, so that nothing on the way takes it for
    a fault."""


class Console:
    """Writes to `sys.stdout` and `sys.stderr` as they are at that moment (a stream that is closed is None)."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self.color_wanted = not environ.get("NO_COLOR") and environ.get("TERM", "") not in NO_COLORS

    def data(self, text: str) -> None:
        """Print a part of the result, untouched, as UTF-8. Raises OutputClosed, Unwritable."""
        self.data_bytes(text.encode("utf-8", "backslashreplace"))

    def data_bytes(self, chunk: bytes) -> None:
        """Print bytes of the result. Raises as `data`."""
        stream = self._stdout()
        with _Writing():
            stream.flush()
            if hasattr(stream, "buffer"):
                stream.buffer.write(chunk)
            else:
                stream.write(chunk.decode("utf-8", "backslashreplace"))
            stream.flush()

    def text(self, text: str) -> None:
        """Print text for people: in the terminal's encoding, and on a terminal with control characters visible."""
        stream = self._stdout()
        if is_terminal(stream):
            text = _safe(text)
        encoding = getattr(stream, "encoding", None) or "utf-8"
        self.data_bytes(text.encode(encoding, "backslashreplace"))

    def stored(self, chunks: Iterable[bytes]) -> None:
        """Print bytes that were stored, as they come: untouched, but on a terminal as `text`. Raises as `data`."""
        if not is_terminal(sys.stdout):
            for chunk in chunks:
                self.data_bytes(chunk)
            return
        from codecs import getincrementaldecoder

        decode = getincrementaldecoder("utf-8")("backslashreplace").decode
        for chunk in chunks:
            self.text(decode(chunk))
        self.text(decode(b"", True))

    def _stdout(self) -> TextIO:
        stream: TextIO | None = sys.stdout
        if stream is None:
            raise Unwritable("standard output is closed, so there is nowhere to print the result")
        return stream

    def say(self, text: str) -> None:
        """Print a line for people on stderr, control characters made visible; a stderr that is gone is no fault."""
        stream: TextIO | None = sys.stderr
        if stream is None:
            return
        self._stderr(stream, _safe(text) + "\n")

    def ask(self, question: str) -> str | None:
        """Put a question on stderr and read one line of stdin; None at its end."""
        self._stderr(sys.stderr, _safe(question))
        line = sys.stdin.readline()
        if not line:
            self._stderr(sys.stderr, "\n")
            return None
        return line.rstrip("\n")

    def failure(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        """Print an error: what, where, what to do."""
        stream: TextIO | None = sys.stderr
        if stream is None:
            return
        colored = self.color_wanted and is_terminal(stream)
        label = f"{RED_BOLD}Error:{RESET}" if colored else "Error:"
        first, *rest = _safe(message).split("\n")
        lines = [f"{label} {first}", *(f"  {line}" for line in rest)]
        lines += [f"  field: {_safe(field)}"] if field else []
        lines += [f"  hint: {_safe(hint)}"] if hint else []
        self._stderr(stream, "\n".join(lines) + "\n")

    @staticmethod
    def _stderr(stream: TextIO, text: str) -> None:
        try:
            encoding = getattr(stream, "encoding", None) or "utf-8"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except OSError:
            silence(stream)

    def can_ask(self) -> bool:
        """Whether a person can read a question and answer it."""
        return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def _safe(text: str) -> str:
    """The text with nothing in it that steers a terminal, but for its newlines."""
    if text.isascii() and text.isprintable():
        return text
    from akka_optimize.output.text import visible

    return visible(text, newlines=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is open on a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


class _Writing:
    """Turns what can go wrong with stdout into errors of ours, and keeps the interpreter from trying again at exit."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, BrokenPipeError):
            silence(sys.stdout)
            raise OutputClosed from None
        if isinstance(error, OSError):
            silence(sys.stdout)
            raise Unwritable(f"the output could not be written: {error.strerror}") from None


def silence(stream: TextIO) -> None:
    """Send whatever the stream still holds nowhere."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
