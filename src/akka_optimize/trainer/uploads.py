"""Bytes that arrive in parts, before they are known to be a dataset."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import files
from akka_optimize.trainer.names import shown

if TYPE_CHECKING:
    from akka_optimize.trainer.home import Home

LIMIT = 64 * 2**20  # bytes in one upload, and so in one dataset
PART_LIMIT = 2**20  # bytes in one part
STALE_SECONDS = 24 * 3600.0
MOST_UPLOADS = 32  # unfinished, in one home
MOST_BYTES = 8 * LIMIT  # that they hold together
IDLE_SECONDS = 600.0  # after which an upload gives way to others, where these have no room
UPLOAD_ID = re.compile(r"[0-9a-f]{32}")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Upload:
    """Bytes that a client has sent, under an id of its own: 32 hex digits, and 64 of the sha256 of all of them."""

    upload_id: str
    sha256: str


def write(home: Home, upload_id: str, offset: int, data: bytes) -> int:
    """Write one part and return how many bytes are held now; the same part again changes nothing.

    Raises Invalid (id, offset, a part that is too large or leaves a gap), Conflict (other bytes are there already)
    and Exhausted (limit; the home's unfinished uploads, or the disk, which removes what was held).
    """
    path = place(home, upload_id)
    check_part(offset, data)
    check_size(offset + len(data))
    try:
        if path.exists():
            _require_room(home, len(data))
            return append(path, upload_id, offset, data)
        with home.lock("uploads", wait=True):  # one new one at a time, so that they can be counted
            sweep(home)
            _require_room(home, len(data), new=not path.exists())
            return append(path, upload_id, offset, data)
    except errors.Exhausted:
        path.unlink(missing_ok=True)  # it can never be finished, and holds the room that is missing
        raise


def check_part(offset: int, data: bytes) -> None:
    """Raise Invalid for a part that no upload can have."""
    if len(data) > PART_LIMIT:
        raise errors.Invalid(f"a part holds at most {PART_LIMIT} bytes, not {len(data)}", field="data")
    if offset < 0:
        raise errors.Invalid(f"an offset is not negative, and {offset} is", field="offset")


def append(path: Path, upload_id: str, offset: int, data: bytes) -> int:
    """Write a part to the file at `path`, as `write` does, whatever there is room for."""
    with files.translated(path), open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        size = file.seek(0, os.SEEK_END)
        if offset > size:
            raise errors.Invalid(f"the part begins at {offset}, and {size} bytes have arrived", field="offset")
        file.seek(offset)
        held = file.read(len(data))
        if held != data[: len(held)]:
            raise errors.Conflict(f"upload {upload_id} holds other bytes at {offset}", field="data")
        file.seek(size)
        file.write(data[len(held) :])
        return max(size, offset + len(data))


@contextmanager
def finished(home: Home, upload: Upload) -> Iterator[Path]:
    """The file that an upload has become, once its bytes are the ones that were sent; it is removed afterwards.

    Raises NotFound, and Invalid (id, or a digest that does not match).
    """
    path, upload_id, sha256 = place(home, upload.upload_id), upload.upload_id, upload.sha256
    if not SHA256.fullmatch(sha256):
        raise errors.Invalid(f"a sha256 has 64 hex digits in lower case, unlike {shown(sha256)}", field="sha256")
    if not path.exists():
        raise errors.NotFound(
            f"no upload {upload_id} is held", field="uploadId", hint="send it again; uploads are kept for a day"
        )
    try:
        with files.translated(path), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != sha256:
            raise errors.Invalid(
                f"upload {upload_id} was damaged on its way: its sha256 is {digest}, not {sha256}",
                field="sha256",
                hint="send it again under a new upload id",
            )
        yield path
    finally:
        path.unlink(missing_ok=True)


def drop(home: Home, upload: Upload) -> None:
    """Remove what is held of an upload, if anything is."""
    place(home, upload.upload_id).unlink(missing_ok=True)


def sweep(home: Home, *, older_than: float = STALE_SECONDS) -> None:
    """Remove what nobody has written to for `older_than` seconds; what cannot be removed stays, and is in nobody's way.

    Raises Refused (the folder cannot be read).
    """
    oldest = time.time() - older_than
    with files.translated(home.uploads):
        entries = list(os.scandir(home.uploads))
    for entry in entries:
        with suppress(OSError):  # another process was quicker; or it is a folder, and nobody's upload
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


def _require_room(home: Home, more: int, *, new: bool = False) -> None:
    """Raise Exhausted unless `more` bytes, of a `new` upload or of one that is there, find room beside the others.

    Bytes are counted without a lock: parts that come at once may go beyond the limit by what they hold.
    """
    if _full(home, more, new=new):
        sweep(home, older_than=IDLE_SECONDS)
        if full := _full(home, more, new=new):
            raise errors.Exhausted(
                f"this trainer has no room for the upload: {full} are held already, and not finished",
                field="uploadId",
                hint="try again when others are finished; one that is abandoned gives way after "
                f"{IDLE_SECONDS / 60:g} minutes",
            )


def _full(home: Home, more: int, *, new: bool) -> str | None:
    """What there is already too much of; None where there is room."""
    with files.translated(home.uploads):
        held = [size for entry in os.scandir(home.uploads) if (size := _size(entry)) is not None]
    if new and len(held) >= MOST_UPLOADS:
        return f"{len(held)} uploads"
    if sum(held) + more > MOST_BYTES:
        return f"{sum(held) / 2**20:.0f} MiB"
    return None


def _size(entry: os.DirEntry[str]) -> int | None:
    """The bytes of an upload; None for what is none, or is gone."""
    with suppress(OSError):
        if UPLOAD_ID.fullmatch(entry.name):
            return entry.stat(follow_symlinks=False).st_size
    return None


def check_size(size: int) -> None:
    """Raise Exhausted when `size` bytes are more than a dataset may have."""
    if size > LIMIT:
        raise errors.Exhausted(
            f"a dataset has at most {LIMIT // 2**20} MiB, and this one has at least {size / 2**20:.1f} MiB",
            hint="split it, or leave out rows",
        )


def place(home: Home, upload_id: str) -> Path:
    """Where an upload is held. Raises Invalid (id)."""
    if not UPLOAD_ID.fullmatch(upload_id):
        raise errors.Invalid(
            f"an upload id has 32 hex digits in lower case, unlike {shown(upload_id)}", field="uploadId"
        )
    return home.uploads / upload_id
