"""A run's progress, as it happens."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.records import TERMINAL_PHASES, RunEvent
from akka_optimize.trainer import claims, launch, recover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

SECONDS = 0.2
MOST_LAUNCHES = 5
POLLS_PER_LAUNCH = 10  # a worker that cannot even begin is not started five times a second


def watch(
    catalog: Catalog,
    home: Home,
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
    for poll in count():
        if not alive():
            return
        ended, fault = recover.end_lost(catalog, home)
        if ended:
            recover.close_open(catalog, home)
        run = catalog.run(run_id)
        state = repr((run.phase, run.observed_step, run.loss))  # as text, for NaN is not equal to itself
        if state != told:
            told = state
            yield _event(run)
        if run.phase in TERMINAL_PHASES:
            return
        if fault is not None and run.phase in recover.ACTIVE and claims.abandoned(home, run):
            raise fault
        if run.phase == "QUEUED" and poll % POLLS_PER_LAUNCH == 0:
            launches = launches + 1 if launch.ensure_worker(home) and not catalog.active() else 0
            if launches > 1:
                _require_hope(catalog, home, run_id, launches)
        sleep(SECONDS)


def _require_hope(catalog: Catalog, home: Home, run_id: str, launches: int) -> None:
    """Raise Exhausted or Refused when workers end without taking a run, one after the other, and will go on to."""
    catalog.require_room()
    if launches > MOST_LAUNCHES:
        raise errors.Refused(
            f"{MOST_LAUNCHES} workers were started for run {run_id}, and each ended without taking it",
            hint=f"{home.path / launch.LOG} says why",
        )


def _event(run: Run) -> RunEvent:
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
