"""Saves that do not hold up the training: one at a time, in a thread that ends with the attempt."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from types import TracebackType


class Saver:
    """Writes what it is handed beside the training; what goes wrong there is raised in the training's thread.

    A context manager: at its end what is being written has been written, or has failed.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="save")
        self._running: Future[None] | None = None
        self.step = 0  # the last update that was handed over

    def start(self, step: int, write: Callable[[], object]) -> None:
        """Have `write` called, once the save before is through. Raises what that one raised."""
        self.finish()
        self.step = step
        self._running = self._thread.submit(_once, [write])

    def check(self) -> None:
        """Raise what a save that has ended meanwhile raised."""
        if self._running is not None and self._running.done():
            self.finish()

    def finish(self) -> None:
        """Wait for the save at hand. Raises what it raised."""
        if (fault := self.settled()) is not None:
            raise fault

    def settled(self) -> BaseException | None:
        """Wait for the save at hand; what it raised, which is told once."""
        running, self._running = self._running, None
        return None if running is None else running.exception()

    def __enter__(self) -> Saver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait. What a last save raises is raised where nothing else was."""
        late = self.settled()
        self._thread.shutdown()
        if fault is None and late is not None:
            raise late


def _once(writes: list[Callable[[], object]]) -> None:
    """Call what is in the list, and keep neither it nor its result: what was held for it is free again after it."""
    writes.pop()()
