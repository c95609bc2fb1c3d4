"""What a service sees to by itself while it serves: workers that end, runs that they lost, a queue without a worker.

A command on a home does this when it opens the home. A service opens it once, for weeks.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import files, launch, recover
from akka_optimize.trainer.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.trainer.home import Home

SECONDS = 5.0  # between two looks, unless one of our processes ends
PAUSE, LONGEST_PAUSE = 5.0, 300.0  # seconds without a new worker, once one failed; doubled each time


class Keeper:
    """A thread that looks after a home; `say` is told what it found, one sentence each."""

    def __init__(
        self, home: Home, patience: float, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._home, self._patience, self._say, self._clock = home, patience, say, clock
        self._news, self._over = threading.Event(), False
        self._pause, self._paused_until = PAUSE, clock()
        self._complaint = ""
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)

    def start(self) -> None:
        """Look now, and from now on."""
        self._news.set()
        self._thread.start()

    def wake(self) -> None:
        """Look again soon; safe in a signal's handler."""
        self._news.set()

    def stop(self) -> None:
        """Look no more; a look that has begun may still end."""
        self._over = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def look(self) -> None:
        """One look. Whatever keeps it from its work is said, once, and tried again."""
        failed = any(launch.reap())
        if failed:
            self._paused_until, self._pause = self._clock() + self._pause, min(2 * self._pause, LONGEST_PAUSE)
        try:
            with files.translated(self._home.path), Catalog.open(self._home, patience=self._patience) as catalog:
                self._recover(catalog)
                waiting = catalog.runs(phase="QUEUED", limit=1).total
            if waiting and self._clock() >= self._paused_until and not launch.ensure_worker(self._home):
                self._pause = PAUSE  # workers are there, and stay
        except errors.AkkaError as error:
            self._complain(error.message)
        else:
            self._complaint = ""

    def _recover(self, catalog: Catalog) -> None:
        ended, fault = recover.end_lost(catalog, self._home)
        for run in ended:
            self._say(f"run {run.run_id} is {run.phase}: {run.failure_reason or 'its worker ended'}")
        notes = recover.close_open(catalog, self._home) if ended else ()
        for note in notes:
            self._say(note)
        if fault is not None:
            raise fault

    def _complain(self, sentence: str) -> None:
        if sentence != self._complaint:
            self._say(sentence)
        self._complaint = sentence

    def _keep(self) -> None:
        while not self._over:
            self._news.wait(SECONDS)
            self._news.clear()
            if not self._over:
                self.look()
