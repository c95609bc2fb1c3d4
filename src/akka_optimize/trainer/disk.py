"""Writing the files of a record, and reading them back for their digests."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from akka_optimize.trainer import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def replace(path: Path, content: Iterable[bytes]) -> None:
    """Put `content`, part by part, at `path`: all of it or, after a crash, what was there before. Raises OSError."""
    beside = path.with_name(f".tmp-{os.getpid()}-{path.name}")
    try:
        with beside.open("wb") as stream:
            stream.writelines(content)
        files.install(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_new(path: Path, content: bytes) -> None:
    """Put `content` at `path` and flush it; the caller flushes the folder. Raises OSError, FileExistsError."""
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def flush_file(path: Path) -> None:
    """Have the bytes that somebody else wrote to `path` on the disk before going on."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def digest(path: Path) -> str:
    """sha256 of a file's bytes, 64 hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def pretty(document: Any) -> bytes:
    """A document as indented JSON for people to read. Raises ValueError on NaN and infinities."""
    return (json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
