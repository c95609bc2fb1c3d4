"""Room on the disk that is kept back for saying that there is none left."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from akka_optimize.record.layout import UNFINISHED

if TYPE_CHECKING:
    from pathlib import Path

BYTES = 256 * 1024  # more than the catalog takes for moving a run to another phase


class Room:
    """A file of no content in a run's folder, which goes as soon as its room is needed."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / f"{UNFINISHED}room"  # whoever closes the record takes it for a leftover

    def keep(self) -> None:
        """Take the room. Raises OSError where there is none."""
        descriptor = os.open(self._place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, BYTES)
        finally:
            os.close(descriptor)

    def give_up(self) -> None:
        """Let others have it."""
        with suppress(OSError):
            self._place.unlink(missing_ok=True)
