"""Runs whose record is not closed: an empty file each, from the claim until the record has its last file.

The file is there before a disk is full, and costs a look at a folder that is nearly always empty. Whoever opens the
home closes what a worker that is gone, or a disk that was full, left open.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.trainer.home import Home


def mark(home: Home, run_id: str) -> None:
    """From now on the run's record is open; where the disk refuses, nobody will be told, and the run goes on."""
    with suppress(OSError):
        _place(home, run_id).touch(mode=0o600)


def clear(home: Home, run_id: str) -> None:
    """The record is closed, or there is none to close."""
    with suppress(OSError):
        _place(home, run_id).unlink(missing_ok=True)


def marked(home: Home) -> tuple[str, ...]:
    """The ids of runs whose record is open."""
    with suppress(OSError):
        return tuple(sorted(os.listdir(home.unclosed)))
    return ()


def is_marked(home: Home, run_id: str) -> bool:
    """Is the run's record open still? Ask again once you hold its lock."""
    return _place(home, run_id).exists()


def _place(home: Home, run_id: str) -> Path:
    return home.unclosed / run_id
