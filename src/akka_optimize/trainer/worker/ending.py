"""How an attempt at a run ended."""

from __future__ import annotations

import errno
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from akka_optimize.errors import AkkaError, Exhausted
from akka_optimize.trainer.folder import RecordLost
from akka_optimize.trainer.worker.source import SourceLost

if TYPE_CHECKING:
    from types import TracebackType

RESUMABLE = frozenset({"DISK_FULL", "OUT_OF_MEMORY", "WORKER_STOPPED", "WORKER_LOST"})
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class Ending:
    """COMPLETED, unless somebody stopped the attempt or the block under it raised.

    A context manager, so that whatever an engine raises ends its run and not the worker; what is no Exception
    (SystemExit, KeyboardInterrupt) passes through. The traceback is printed.
    """

    def __init__(self) -> None:
        self.phase = "COMPLETED"
        self.code: str | None = None
        self.reason: str | None = None

    @property
    def resumable(self) -> bool:
        """Could another attempt, on the same machine, get further?"""
        return self.code in RESUMABLE

    def cancel(self) -> None:
        """The user asked for it."""
        self.phase, self.code, self.reason = "CANCELLED", None, None

    def fail(self, code: str, reason: str) -> None:
        """The run cannot go on."""
        self.phase, self.code, self.reason = "FAILED", code, reason

    def __enter__(self) -> Ending:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(fault, Exception):
            return False
        with suppress(OSError):  # a log that cannot be written ends no run
            text = "".join(traceback.format_exception(fault))
            print(text.encode(errors="backslashreplace").decode(), file=sys.stderr, end="", flush=True)
        if self.phase != "FAILED":  # what came first is the cause
            self.fail(failure_code(fault), failure_reason(fault))
        return True


def failure_code(fault: Exception) -> str:
    """`DISK_FULL`, `OUT_OF_MEMORY`, `SOURCE_LOST`, `RECORD_LOST`, or `ENGINE_ERROR` for all else that may be raised."""
    if isinstance(fault, Exhausted) or (isinstance(fault, OSError) and fault.errno in NO_ROOM):
        return "DISK_FULL"
    if isinstance(fault, MemoryError) or type(fault).__name__ == "OutOfMemoryError":  # torch's, without torch
        return "OUT_OF_MEMORY"
    if isinstance(fault, SourceLost):
        return "SOURCE_LOST"
    if isinstance(fault, RecordLost):
        return "RECORD_LOST"
    return "ENGINE_ERROR"


def failure_reason(fault: Exception) -> str:
    """The first line of what was raised, with its type unless the message was written for the user."""
    first = next(iter(str(fault).splitlines()), "").encode(errors="replace").decode()  # a database takes no surrogate
    if isinstance(fault, AkkaError) and first:
        return first
    return f"{type(fault).__name__}: {first}" if first else type(fault).__name__
