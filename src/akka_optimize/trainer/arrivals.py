"""Files of runs' records that arrive in parts, before they are known to make a record.

They have a folder and limits of their own, apart from what is to become a dataset: a training state may be as large as
the disk allows, a record has many files, and neither is to take the room that datasets have.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import files, uploads

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.trainer.home import Home

MOST = 20_000  # files that wait, in one home
KEPT_FREE = 256 * 2**20  # bytes of the disk that no file takes: runs that are training save there, too


def write(home: Home, upload_id: str, offset: int, data: bytes) -> int:
    """Write one part and return how many bytes are held now; the same part again changes nothing.

    Raises Invalid (id, offset, a part that is too large or leaves a gap), Conflict (other bytes are there already)
    and Exhausted (too many files; the disk, which removes what was held).
    """
    path = place(home, upload_id)
    uploads.check_part(offset, data)
    try:
        _require_room(home, len(data))
        if path.exists():
            return uploads.append(path, upload_id, offset, data)
        with home.lock("uploads", wait=True):  # one new one at a time, so that they can be counted
            sweep(home)
            make_folder(home)
            _require_few(home)
            return uploads.append(path, upload_id, offset, data)
    except errors.Exhausted:
        path.unlink(missing_ok=True)  # it can never be finished, and holds the room that is missing
        raise


def folder(home: Home) -> Path:
    """Where all of them are; made with the first one."""
    return home.uploads / "records"


def make_folder(home: Home) -> None:
    """Make the folder that they are in. Raises Exhausted, Refused (disk)."""
    with files.translated(folder(home)):
        folder(home).mkdir(mode=0o700, exist_ok=True)


def place(home: Home, upload_id: str) -> Path:
    """Where an upload is held. Raises Invalid (id)."""
    return folder(home) / uploads.place(home, upload_id).name


def drop(home: Home, upload_id: str) -> None:
    """Remove what is held of an upload, if anything is. Raises Invalid (id)."""
    with suppress(OSError):  # what cannot be removed goes after a day
        place(home, upload_id).unlink(missing_ok=True)


def sweep(home: Home) -> None:
    """Remove what nobody has written to for a day, and what an import that died was putting together for as long.

    Raises Refused (the folder cannot be used).
    """
    oldest = time.time() - uploads.STALE_SECONDS
    with files.translated(folder(home)):
        entries = list(os.scandir(folder(home))) if folder(home).is_dir() else []
    for entry in entries:
        with suppress(OSError):  # another process was quicker
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)


def _require_room(home: Home, more: int) -> None:
    with files.translated(home.uploads):
        free = shutil.disk_usage(home.uploads).free
    if free - more < KEPT_FREE:
        raise errors.Exhausted(
            f"this trainer's disk has {free / 2**20:.0f} MiB left, and {KEPT_FREE // 2**20} MiB are kept for its runs",
            hint="make room on the disk, then try again",
        )


def _require_few(home: Home) -> None:
    with files.translated(folder(home)):
        held = len(os.listdir(folder(home)))
    if held >= MOST:
        raise errors.Exhausted(
            f"this trainer has no room for another file: {held} wait already to be imported",
            field="uploadId",
            hint="those of an import that was abandoned are removed after a day",
        )
