"""How many runs of a home are trained at once: a setting, and a lock for each worker's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import disk, files

if TYPE_CHECKING:
    from akka_optimize.trainer.home import Home, Lock

SETTING = "workers"  # the file in the home; without it there is one
DEFAULT, MOST = 1, 64


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


def name(slot: int) -> str:
    """The lock of a place, counted from 0."""
    return f"worker-{slot}"
