"""Does the time of day go on as time does? It jumps when somebody sets the clock, or when the machine sleeps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 5.0  # less than this is a clock being put right little by little


class Clocks:
    """The time of day beside a clock that is never set, both in seconds."""

    def __init__(self, steady: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time) -> None:
        self.steady, self._wall = steady, wall
        self._ahead = wall() - steady()

    def jump(self) -> float | None:
        """By how many seconds the time of day jumped forward since this was last asked; None for next to nothing."""
        ahead = self._wall() - self.steady()
        moved, self._ahead = ahead - self._ahead, ahead
        return moved if abs(moved) > SECONDS else None
