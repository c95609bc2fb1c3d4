"""Open a file of chat examples and upload it."""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO, Protocol

from akka_optimize.errors import WrongUsage
from akka_optimize.records import Dataset


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def create_dataset(self, source: BinaryIO, *, name: str | None) -> Dataset:
        """Upload and register."""
        ...


def create(trainer: Trainer, path: str, *, name: str | None) -> Dataset:
    """Register the rows in the file at `path` ('-' = standard input).

    Raises WrongUsage (the file cannot be read), Invalid (a row), Exhausted (too large, or the disk).
    """
    if path == "-" and sys.stdin is None:
        raise WrongUsage("standard input is closed, so that no examples can be read from it", field="--file")
    try:
        if path == "-":
            return trainer.create_dataset(sys.stdin.buffer, name=name)
        with open(path, "rb") as source:
            if stat.S_ISDIR(os.fstat(source.fileno()).st_mode):
                raise IsADirectoryError(0, "Is a directory")
            return trainer.create_dataset(source, name=name)
    except OSError as error:
        raise WrongUsage(f"{path}: the file of examples cannot be read: {error.strerror}", field="--file") from None
