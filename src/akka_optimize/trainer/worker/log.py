"""What the worker and all that runs in it print, native libraries included, goes to the log of the run at hand."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STDOUT, STDERR = 1, 2


def say(sentence: str) -> None:
    """One dated line to stderr, control characters made visible."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    with suppress(OSError):  # a log that cannot be written ends no run
        print(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}", file=sys.stderr, flush=True)


@contextmanager
def into(path: Path) -> Iterator[None]:
    """Until the block ends, append what the process writes to stdout and stderr to `path`. Raises OSError."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    before = {stream: os.dup(stream) for stream in (STDOUT, STDERR)}
    try:
        _swing({STDOUT: log, STDERR: log})
        yield
    finally:
        _swing(before)
        for descriptor in (log, *before.values()):
            os.close(descriptor)


def _swing(targets: dict[int, int]) -> None:
    for buffered in (sys.stdout, sys.stderr):
        with suppress(OSError):
            buffered.flush()
    for stream, target in targets.items():
        os.dup2(target, stream)
