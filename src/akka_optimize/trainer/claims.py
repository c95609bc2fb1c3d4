"""Who is at work on which run.

A worker holds the lock of its run for as long as the catalog says PREPARING or TRAINING. Claiming a run and locking it
are two acts; the claim lock makes them one for everybody who looks, so that no living run is ever taken for a lost one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from akka_optimize.trainer import unclosed

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.catalog.runs import RunState
    from akka_optimize.trainer.home import Home, Lock

CLAIM = "claim"
PATIENCE_SECONDS = 2.0


def take(catalog: Catalog, home: Home) -> tuple[Run, Lock] | None:
    """Claim the oldest queued run, and hold it until the lock is released; None when the queue is empty."""
    with _waited_for(home, CLAIM):
        run = catalog.claim()
        if run is None:
            return None
        held = _waited_for(home, _name(run))
        unclosed.mark(home, run.run_id)
        return run, held


def settle(home: Home) -> Lock | None:
    """Keep every claim from changing hands until the lock is released.

    None when another process takes more than two seconds over a claim: it was stopped in the middle of one. Whoever
    comes next may ask again.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (lock := home.lock(CLAIM)) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return lock


def abandoned(home: Home, run: Run | RunState) -> bool:
    """Is nobody at work on the run? Ask under `settle` where it may be in the middle of a claim."""
    if (lock := hold(home, run)) is None:
        return False
    lock.release()
    return True


def let_go(home: Home, run: Run | RunState) -> bool:
    """Wait until nobody is at work on the run; False when somebody still is after two seconds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (free := abandoned(home, run)) and time.monotonic() < deadline:
        time.sleep(0.005)
    return free


def hold(home: Home, run: Run | RunState) -> Lock | None:
    """The run's lock; None when somebody is at work on it."""
    return home.lock(_name(run))


def _waited_for(home: Home, name: str) -> Lock:
    lock = home.lock(name, wait=True)
    assert lock is not None, "a lock that was waited for is held"
    return lock


def _name(run: Run | RunState) -> str:
    return f"run-{run.run_id}"
