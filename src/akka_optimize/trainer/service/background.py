"""What a service leaves in its home for other commands: a lock, a record of where it is, and a log.

service.lock     held for as long as it serves; two services on one home would each tell the other's workers to end
service.json     its process, address and state; of a service that was killed, of a process that is gone
service.log      what it printed, when it was started in the background
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import disk, files
from akka_optimize.trainer.home import Lock
from akka_optimize.trainer.processes import Process

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.trainer.home import Home

LOCK, RECORD, LOG = "service.lock", "service.json", "service.log"
STARTING, READY, STOPPING = "starting", "ready", "stopping"
MOST_LOG_BYTES = 10 << 20  # beyond it, the next start puts the log aside


@dataclass(frozen=True, slots=True)
class Record:
    """A service: its process, `http://HOST:PORT`, when it started (UTC), and STARTING, READY or STOPPING."""

    pid: int
    born: str
    address: str
    started: str
    state: str

    @property
    def process(self) -> Process:
        """The process, alive or not."""
        return Process(self.pid, self.born)


def claim(home: Home) -> Lock:
    """The service's lock of a home. Raises Conflict (another service has it; says which), Refused (disk)."""
    path = home.path / LOCK
    with files.translated(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            other = running(home.path)
            who = f" at {other.address} in process {other.pid}" if other else " that has just begun"
            raise errors.Conflict(
                f"{home.path} is served already, by a trainer{who}",
                hint="stop it with `akka-trainer stop`, or name another home with --home",
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
    return Lock(LOCK, descriptor)


def write(home: Home, record: Record) -> None:
    """Say where the service is; only whoever holds the lock may. Raises Exhausted, Refused (disk)."""
    path = home.path / RECORD
    with files.translated(path):
        disk.replace(path, [json.dumps(asdict(record)).encode() + b"\n"])


def erase(home: Home) -> None:
    """The service is over; before the lock is released."""
    with suppress(OSError):
        (home.path / RECORD).unlink(missing_ok=True)


def running(folder: Path) -> Record | None:
    """The service that is at work on a home; None when there is none. Never makes a home."""
    try:
        told = json.loads((folder / RECORD).read_bytes())
        record = Record(**told)
    except (OSError, ValueError, TypeError):
        return None
    return record if isinstance(record.pid, int) and record.pid > 1 and record.process.alive() else None


def open_log(home: Home) -> int:
    """A descriptor to append to the log; one that has grown large is put aside first. Raises Exhausted, Refused."""
    path = home.path / LOG
    with files.translated(path):
        if path.exists() and path.stat().st_size > MOST_LOG_BYTES:
            path.replace(path.with_name(f"{LOG}.1"))
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
