"""A run's progress, as it happens."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.records import TERMINAL_PHASES, RunEvent
from akka_optimize.trainer import claims, launch, recover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.catalog.runs import RunState
    from akka_optimize.trainer.home import Home

SECONDS = 0.2
SHARED_SECONDS = SECONDS / 2  # for which one look serves every watcher of a home
MOST_LAUNCHES = 5
POLLS_PER_LAUNCH = 10  # a worker that cannot even begin is not started five times a second


class Lookout:
    """Where the watched runs of a home are: one look at the catalog for all of them, however many watch.

    A look also ends the runs whose worker died. It serves whoever asks within `seconds` of it. May be used from any
    thread.
    """

    def __init__(
        self, catalog: Catalog, home: Home, *, seconds: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.catalog, self.home = catalog, home
        self._seconds, self._clock = seconds, clock
        self._lock = threading.Lock()
        self._watched: Counter[str] = Counter()
        self._states: dict[str, RunState] = {}
        self._fault: errors.AkkaError | None = None
        self._good_until = clock()

    @contextmanager
    def watching(self, run_id: str) -> Iterator[None]:
        """A look includes this run while the block lasts."""
        with self._lock:
            self._watched[run_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._watched[run_id] -= 1
                if not self._watched[run_id]:
                    del self._watched[run_id]

    def look(self, run_id: str) -> tuple[RunState, errors.AkkaError | None]:
        """Where the run is, and what kept a lost run (any one) from being ended. Raises NotFound."""
        with self._lock:
            if run_id not in self._states or self._clock() >= self._good_until:
                self._look()
            if (state := self._states.get(run_id)) is None:
                self.catalog.run(run_id)  # says that it is not there
                raise errors.Internal(f"run {run_id} was missing for a moment")
            return state, self._fault

    def _look(self) -> None:
        ended, self._fault = recover.end_lost(self.catalog, self.home)
        if ended:
            recover.close_open(self.catalog, self.home)
        self._states = self.catalog.states(self._watched)
        self._good_until = self._clock() + self._seconds


def watch(
    lookout: Lookout,
    run_id: str,
    *,
    alive: Callable[[], bool] = lambda: True,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[RunEvent]:
    """Where the run is now, then each change; the last event is terminal, unless nobody is `alive` to hear it.

    A worker that died in the meantime ends the run, and a queue without a worker gets one. Raises NotFound; Exhausted
    and Refused where the run's worker is gone and its end cannot be put on record, so that no end would ever come;
    and the same where the workers that are started for a run that waits end one after the other without taking it.
    """
    told, launches = None, 0
    with lookout.watching(run_id):
        for poll in count():
            if not alive():
                return
            run, fault = lookout.look(run_id)
            state = repr((run.phase, run.observed_step, run.loss))  # as text, for NaN is not equal to itself
            if state != told:
                told = state
                yield _event(run)
            if run.phase in TERMINAL_PHASES:
                return
            if fault is not None and run.phase in recover.ACTIVE and claims.abandoned(lookout.home, run):
                raise fault
            if run.phase == "QUEUED" and poll % POLLS_PER_LAUNCH == 0:
                begun = launch.ensure_worker(lookout.home) and not lookout.catalog.active_states()
                launches = launches + 1 if begun else 0
                if launches > 1:
                    _require_hope(lookout, run_id, launches)
            sleep(SECONDS)


def _require_hope(lookout: Lookout, run_id: str, launches: int) -> None:
    """Raise Exhausted or Refused when workers end without taking a run, one after the other, and will go on to."""
    lookout.catalog.require_room()
    if launches > MOST_LAUNCHES:
        raise errors.Refused(
            f"{MOST_LAUNCHES} workers were started for run {run_id}, and each ended without taking it",
            hint=f"{lookout.home.path / launch.LOG} says why",
        )


def _event(run: RunState) -> RunEvent:
    return RunEvent(
        run_id=run.run_id,
        phase=run.phase,
        step=run.observed_step,
        steps=run.steps,
        loss=run.loss,
        at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        terminal=run.phase in TERMINAL_PHASES,
        failure_code=run.failure_code,
        failure_reason=run.failure_reason,
    )
