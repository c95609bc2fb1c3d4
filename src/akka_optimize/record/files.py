"""What lies in a folder, without following anything out of it."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path

DEEPEST = 32  # folders within each other


class NotPlain(OSError):
    """What is there is not a plain file."""


def walk(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Everything below `folder` but folders themselves: its path relative to there, and why it is no plain file.

    None stands for a plain file. A link is named and never followed. Raises OSError for `folder` itself.
    """
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        yield from _below(entry, entry.name, 1)


def opened(path: Path) -> BufferedReader:
    """A plain file, open for reading; a link, a pipe or a device is not. Raises OSError, NotPlain."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlain(f"{path} is not a plain file")
    return open(descriptor, "rb")


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it lies there: the sha256 of its bytes, how many they are, and the bytes themselves where kept."""

    digest: str
    size: int
    content: bytes | None


def seen(path: Path, *, keep: int = 0) -> Seen:
    """Read a plain file once. Its bytes are kept if they are no more than `keep`. Raises OSError, NotPlain."""
    with opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= keep:
            content = stream.read(keep + 1)
            return Seen(hashlib.sha256(content).hexdigest(), len(content), content)
        return Seen(hashlib.file_digest(stream, "sha256").hexdigest(), size, None)


def _below(entry: os.DirEntry[str], name: str, depth: int) -> Iterator[tuple[str, str | None]]:
    if entry.is_symlink():
        yield name, "is a link, which is not followed"
    elif entry.is_file(follow_symlinks=False):
        yield name, None
    elif not entry.is_dir(follow_symlinks=False):
        yield name, "is neither a plain file nor a folder"
    elif depth == DEEPEST:
        yield name, f"is a folder within {DEEPEST} others, and is not looked into"
    else:
        try:
            with os.scandir(entry.path) as entries:
                found = sorted(entries, key=lambda each: each.name)
        except OSError as error:
            yield name, f"cannot be looked into: {(error.strerror or str(error)).lower()}"
            return
        for each in found:
            yield from _below(each, f"{name}/{each.name}", depth + 1)
