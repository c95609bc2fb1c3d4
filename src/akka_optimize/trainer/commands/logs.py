"""`akka-trainer logs`."""

from __future__ import annotations

import os
import sys
import time
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

import click

from akka_optimize import errors
from akka_optimize.trainer.commands import flags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL_SECONDS = 0.2
BLOCK = 1 << 16


@click.command()
@flags.home_option
@click.option("-f", "--follow", is_flag=True, help="Go on with what is added, until Ctrl-C")
@click.option("--lines", type=click.IntRange(0), metavar="N", help="No more than the last N lines  [default: all]")
def logs(home: str, follow: bool, lines: int | None) -> None:
    """Print what the service of a home printed, when it was started in the background."""
    from akka_optimize.trainer.service import background

    path = flags.folder(home) / background.LOG
    visible, text = sys.stdout.isatty(), getincrementaldecoder("utf-8")("replace")
    for part in _translated(path, read(path, lines, follow=follow)):
        flags.out(_shown(text.decode(part)) if visible else part, end=False)


def _translated(path: Path, parts: Iterator[bytes]) -> Iterator[bytes]:
    """The same; what keeps the log from being read is NotFound or Refused, and not what becomes of the output."""
    try:
        yield from parts
    except FileNotFoundError:
        raise errors.NotFound(f"there is no {path}", hint="it is written by `akka-trainer start`") from None
    except OSError as error:
        raise errors.Refused(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error


def read(
    path: Path, lines: int | None, *, follow: bool, sleep: Callable[[float], None] = time.sleep
) -> Iterator[bytes]:
    """The log's bytes, from the last `lines` lines on; with `follow` also what is added, and the file that replaces it.

    Raises OSError.
    """
    file = path.open("rb")
    try:
        if lines is not None:
            file.seek(_beginning(file, lines))
        while True:
            while part := file.read(BLOCK):
                yield part
            if not follow:
                return
            sleep(POLL_SECONDS)
            if _replaced(path, file):
                while part := file.read(BLOCK):  # what was added before it was put aside
                    yield part
                with suppress(FileNotFoundError):  # put aside once more
                    newer = path.open("rb")
                    file.close()
                    file = newer
    finally:
        file.close()


def _beginning(file: BinaryIO, lines: int) -> int:
    """Where the last so many lines begin; read from the end, for a log may be long."""
    at = end = file.seek(0, os.SEEK_END)
    if lines == 0:
        return end
    wanted = lines  # line ends to be found before them
    while at > 0:
        start = max(0, at - BLOCK)
        file.seek(start)
        block = file.read(at - start)
        stop = len(block) - (at == end and block.endswith(b"\n"))
        while (found := block.rfind(b"\n", 0, stop)) >= 0:
            wanted -= 1
            if wanted <= 0:
                return start + found + 1
            stop = found
        at = start
    return 0


def _replaced(path: Path, file: BinaryIO) -> bool:
    """Is another file at the path, or this one shorter than what was read?"""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(file.fileno())
    return (now.st_dev, now.st_ino) != (here.st_dev, here.st_ino) or now.st_size < file.tell()


def _shown(text: str) -> str:
    """For a terminal: whatever is no text is shown and not carried out."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
