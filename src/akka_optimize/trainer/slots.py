"""How many runs of a home are trained at once: a setting, and a lock for each worker's place.

The file of a place's lock names the process that has it, for whoever wants to tell it something. It is written for as
long as the place is held; after a death it names a process that is gone, which is told apart from one with its number.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import disk, files
from akka_optimize.trainer.processes import Process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.trainer.home import Home, Lock

SETTING = "workers"  # the file in the home; without it there is one
DEFAULT, MOST = 1, 64
MOST_SIGNED_BYTES = 128


def count(home: Home) -> int:
    """How many workers the home may have. Raises Refused (the setting cannot be read)."""
    path = home.path / SETTING
    with files.translated(path):
        try:
            text = path.read_text("ascii", errors="replace").strip()
        except FileNotFoundError:
            return DEFAULT
    if not text.isdecimal() or len(text) > len(str(MOST)) or not 1 <= int(text) <= MOST:
        raise errors.Refused(
            f"{path} does not hold a number of workers, 1 to {MOST}", hint="`akka-trainer work --workers N` writes it"
        )
    return int(text)


def set_count(home: Home, workers: int) -> None:
    """Remember how many workers the home may have. Raises Invalid (1 to 64), Exhausted, Refused (disk)."""
    if not 1 <= workers <= MOST:
        raise errors.Invalid(f"a home has 1 to {MOST} workers, not {workers}", field="workers")
    path = home.path / SETTING
    with files.translated(path):
        disk.replace(path, [f"{workers}\n".encode()])


def take(home: Home) -> Lock | None:
    """A free worker's place, held until the lock is released; None when there is none."""
    return next((lock for slot in range(count(home)) if (lock := home.lock(name(slot))) is not None), None)


def allowed(home: Home, lock: Lock) -> bool:
    """Is this place still one of the home's? The setting may have become smaller since it was taken."""
    return lock.name in {name(slot) for slot in range(count(home))}


def name(slot: int | str) -> str:
    """The lock of a place, counted from 0."""
    return f"worker-{slot}"


def sign(lock: Lock, process: Process) -> None:
    """Write down who has the place. Where the disk is full, nobody can tell that worker to end; it works regardless."""
    with suppress(OSError):
        os.ftruncate(lock.fileno(), 0)
        os.pwrite(lock.fileno(), f"{process}\n".encode(), 0)


@contextmanager
def signed(lock: Lock) -> Iterator[None]:
    """Have our own name in the place until the block ends; leave before the lock is released."""
    sign(lock, Process.of(os.getpid()))
    try:
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(lock.fileno(), 0)


def holders(home: Home) -> list[Process]:
    """Every living worker of the home, whichever program started it, in places that the home no longer has as well."""
    found = []
    for path in sorted(home.locks.glob(name("*"))):
        with suppress(OSError), path.open("r", encoding="ascii", errors="replace") as file:
            if (process := Process.parse(file.read(MOST_SIGNED_BYTES))) is not None and process.alive():
                found.append(process)
    return found


def tell(workers: list[Process], number: signal.Signals) -> list[Process]:
    """Send each a signal; those that another user's rights keep us from reaching."""
    refused = []
    for process in workers:
        try:
            process.tell(number)
        except PermissionError:
            refused.append(process)
    return refused
