"""Processes that were written down, and that may be gone: a number alone may have become somebody else's.

A process is known by its number and its birth: when the system says that it began, and since which start of the machine
that is counted. No two processes share both. Where the system does not tell (no /proc), the number has to do.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROC = Path("/proc")
UNKNOWN = "?"  # the birth, where the system does not tell it
BORN, STATE = 19, 0  # fields of /proc/PID/stat, counted after the name
POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Process:
    """One process, alive or not."""

    pid: int
    born: str = UNKNOWN

    @classmethod
    def of(cls, pid: int) -> Process:
        """The process that has this number now."""
        return cls(pid, _born(_stat(pid)) if _told(pid) else UNKNOWN)

    @classmethod
    def parse(cls, text: str) -> Process | None:
        """The process that `str` wrote down; None for anything else."""
        pid, _, born = text.strip().partition(" ")
        return cls(int(pid), born) if pid.isdecimal() and len(pid) < 10 and int(pid) > 1 and born else None

    def __str__(self) -> str:
        return f"{self.pid} {self.born}"

    def alive(self) -> bool:
        """Is it still there? One that has ended and that its parent has not looked at is not."""
        if _told(self.pid):
            fields = _stat(self.pid)
            return fields[STATE] not in ("Z", "X") and self.born in (UNKNOWN, _born(fields))
        if PROC.joinpath("self", "stat").exists():
            return False
        try:
            os.kill(self.pid, 0)
        except OSError as error:
            return isinstance(error, PermissionError)
        return True

    def tell(self, number: signal.Signals) -> bool:
        """Send a signal; False when the process is gone. Raises PermissionError (somebody else's)."""
        with _handle(self.pid) as handle:  # the number cannot pass to another process between the look and the signal
            if not self.alive():
                return False
            with suppress(ProcessLookupError):
                if handle is None:
                    os.kill(self.pid, number)
                else:
                    signal.pidfd_send_signal(handle, number)
                return True
            return False


def wait(processes: Iterable[Process], seconds: float) -> list[Process]:
    """Wait until all have ended, at most so long; those that have not."""
    deadline = time.monotonic() + seconds
    left = [process for process in processes if process.alive()]
    while left and (remaining := deadline - time.monotonic()) > 0:
        with _handle(left[0].pid) as handle:
            if handle is None:
                time.sleep(min(POLL_SECONDS, remaining))
            elif left[0].alive():
                poll = select.poll()
                poll.register(handle, select.POLLIN)
                poll.poll(remaining * 1000)
        left = [process for process in left if process.alive()]
    return left


@contextmanager
def _handle(pid: int) -> Iterator[int | None]:
    """A handle of whoever has this number now; None where there is nobody, or the system has no handles."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    try:
        handle = os.fdopen(os.pidfd_open(pid), "rb", buffering=0)
    except OSError:
        yield None
        return
    with closing(handle):
        yield handle.fileno()


def _told(pid: int) -> bool:
    return (PROC / str(pid) / "stat").exists()


def _stat(pid: int) -> list[str]:
    """What the system says of a process; of one that has just gone, that it is dead."""
    try:
        text = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return ["X"] * (BORN + 1)
    return text.rpartition(")")[2].split()


def _born(fields: list[str]) -> str:
    return f"{fields[BORN]}@{_machine_start()}"


@cache
def _machine_start() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return UNKNOWN
