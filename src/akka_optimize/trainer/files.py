"""Files that are whole or not there, and what the system's refusals mean to a user."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from akka_optimize import errors

FLUSHES_AT_ONCE = 16
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
RIGHTS = "give yourself the right to write there"


@contextmanager
def translated(path: Path | str) -> Iterator[None]:
    """Turn an OSError about `path` into Exhausted (no room) or Refused (everything else)."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        if error.errno in NO_ROOM:
            raise errors.Exhausted(
                f"{path} cannot be written: {reason}", hint="make room on the disk, then try again"
            ) from error
        hint = RIGHTS if error.errno in NOT_ALLOWED else None
        raise errors.Refused(f"{path} cannot be used: {reason}", hint=hint) from error


def flush_folder(folder: Path) -> None:
    """Make the names in `folder` last through a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_all(paths: Sequence[Path]) -> None:
    """Make the content of files, and the names in folders, last: all at once, which a disk does in a few writes."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(FLUSHES_AT_ONCE, len(paths))) as pool:
        list(pool.map(_flush, paths))


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def install(beside: Path, place: Path) -> None:
    """Move a finished file from `beside` to `place`, on one file system, replacing what is there, and flush both."""
    _flush(beside)
    beside.replace(place)
    flush_folder(place.parent)
