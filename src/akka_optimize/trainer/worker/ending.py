"""How an attempt at a run ended."""

from __future__ import annotations

import os
import re
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from akka_optimize.errors import AkkaError, Exhausted
from akka_optimize.trainer import failures
from akka_optimize.trainer.engines import ProcessLost
from akka_optimize.trainer.files import NO_ROOM
from akka_optimize.trainer.folder import RecordLost
from akka_optimize.trainer.worker.source import SourceLost, StateLost

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

NUMBERED = re.compile(r"\(os error (\d+)\)")  # how libraries written in Rust tell of the system's errors
CODES = {
    ProcessLost: failures.PROCESS_LOST,
    SourceLost: failures.SOURCE_LOST,
    StateLost: failures.STATE_LOST,
    RecordLost: failures.RECORD_LOST,
}
ASKED_FOR = frozenset({"PAUSED", "CANCELLED"})


class Ending:
    """COMPLETED, unless somebody stopped the attempt or the block under it raised.

    A context manager, so that whatever an engine raises ends its run and not the worker; what is no Exception
    (SystemExit, KeyboardInterrupt) passes through. The traceback is printed. A full disk pauses the run.
    """

    def __init__(self) -> None:
        self.phase = "COMPLETED"
        self.code: str | None = None
        self.reason: str | None = None
        self.checkpoint: str | None = None  # of a pause that was asked for: "save" or "latest"

    @property
    def resumable(self) -> bool:
        """Could another attempt, on the same machine, get further?"""
        return self.code in failures.RESUMABLE

    def cancel(self) -> None:
        """The user asked for it."""
        self.phase, self.code, self.reason = "CANCELLED", None, None

    def pause(self, checkpoint: str, reason: str | None) -> None:
        """The user asked for it; `reason` says why nothing could be saved, where something was to be."""
        self.phase, self.code, self.reason, self.checkpoint = "PAUSED", None, reason, checkpoint

    def fail(self, code: str, reason: str) -> None:
        """The run cannot go on, or not before there is room on the disk."""
        self.phase = "PAUSED" if code == failures.DISK_FULL else "FAILED"
        self.code, self.reason, self.checkpoint = code, reason, None

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
        code = failure_code(fault)
        asked_for = self.phase in ASKED_FOR and code == failures.DISK_FULL  # the record is closed once there is room
        if self.code is None and not asked_for:  # what came first is the cause
            self.fail(code, failure_reason(fault))
        return True


def failure_code(fault: BaseException) -> str:
    """Which of `failures` an exception stands for."""
    for kind, code in CODES.items():
        if isinstance(fault, kind):
            return code
    if isinstance(fault, Exhausted) or _full(fault) is not None:
        return failures.DISK_FULL
    if isinstance(fault, MemoryError) or type(fault).__name__ == "OutOfMemoryError":  # torch's, without torch
        return failures.OUT_OF_MEMORY
    return failures.ENGINE_ERROR


def failure_reason(fault: BaseException) -> str:
    """The first line of what was raised, with its type unless the message was written for the user."""
    first = next(iter(str(fault).splitlines()), "").encode(errors="replace").decode()  # a database takes no surrogate
    if isinstance(fault, AkkaError) and first:
        return first
    if (full := _full(fault)) is not None:
        return f"there is no room for what the run records: {full}"
    return f"{type(fault).__name__}: {first}" if first else type(fault).__name__


def _full(fault: BaseException) -> str | None:
    """What the system said of a disk without room, whoever passed it on; None for all other faults."""
    for each in _behind(fault):
        if isinstance(each, OSError):
            number = each.errno
        else:
            found = NUMBERED.search(str(each))
            number = int(found[1]) if found else None
        if number in NO_ROOM:
            return os.strerror(number).lower()
    return None


def _behind(fault: BaseException | None) -> Iterator[BaseException]:
    """An exception, what it was raised from, and so on."""
    while fault is not None:
        yield fault
        fault = fault.__cause__ or fault.__context__
