"""Bytes on their way to the trainer, read twice: first to know what they are, then to send them, a part at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from akka_optimize import errors

PART_BYTES = (1 << 20) - (1 << 12)  # with what goes around it below 1 MiB, the most that nginx takes unless told
MOST_BYTES = 64 << 20


class Content:
    """What a file holds from where it stands on: `size` bytes with this `sha256`, in hex.

    A file of a run's `record` may be empty, and of any size; rows of a dataset may not.
    """

    def __init__(self, source: BinaryIO, *, record: bool = False) -> None:
        """Read it once. Raises Invalid (nothing is there), Exhausted (over 64 MiB), OSError."""
        self._source, self._start, self._record = source, source.tell(), record
        digest, self.size = hashlib.sha256(), 0
        for _, data in self._read():
            digest.update(data)
            self.size += len(data)
        self.sha256 = digest.hexdigest()
        if not self.size and not record:
            raise errors.Invalid("the file is empty", hint="write one chat example a line, as JSON")

    def parts(self) -> Iterator[tuple[int, bytes]]:
        """Read it again: each part of at most 1 MiB, after the offset that it begins at; one for an empty file, too.

        Raises Invalid when the bytes are no longer the same, OSError.
        """
        self._source.seek(self._start)
        digest, size = hashlib.sha256(), 0
        for offset, data in self._read():
            digest.update(data)
            size += len(data)
            if size > self.size:
                break
            yield offset, data
        if not self.size and not size:
            yield 0, b""
        if digest.hexdigest() != self.sha256:
            raise errors.Invalid(
                "the file changed while it was uploaded, and nothing was registered",
                hint="upload it again when nothing writes to it",
            )

    def _read(self) -> Iterator[tuple[int, bytes]]:
        offset = 0
        while data := self._source.read(PART_BYTES):
            if not self._record:
                check_size(offset + len(data))
            yield offset, data
            offset += len(data)


@contextmanager
def repeatable(source: BinaryIO) -> Iterator[Content]:
    """The content of a file; what comes through a pipe is kept in a temporary file meanwhile. Raises as `Content`."""
    if source.seekable():
        yield Content(source)
        return
    from tempfile import TemporaryFile

    with TemporaryFile() as kept:
        size = 0
        while data := source.read(PART_BYTES):
            check_size(size := size + len(data))
            kept.write(data)
        kept.seek(0)
        yield Content(kept)


def check_size(size: int) -> None:
    """Raise Exhausted when `size` bytes are more than a dataset may have."""
    if size > MOST_BYTES:
        raise errors.Exhausted(
            f"the file is larger than a dataset may be, {MOST_BYTES >> 20} MiB",
            hint="split it into several datasets",
        )
