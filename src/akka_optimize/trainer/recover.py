"""What processes that died left behind: whoever comes next puts folders right, ends lost runs, closes their record."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import claims, unfinished

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

ACTIVE = ("PREPARING", "TRAINING")
WORKER_LOST = "WORKER_LOST"


def recover(catalog: Catalog, home: Home) -> tuple[str, ...]:
    """End every run that is claimed and held by nobody; one sentence for each.

    It is FAILED with WORKER_LOST and resumable, or CANCELLED where that was asked for already. Where the disk does not
    allow it, a sentence says that instead, and the next one to come tries again. Folders that a submission or a
    deletion left half moved are put right without a word. Never loads an engine.
    """
    notes = []
    try:
        unfinished.settle(catalog, home)
    except (errors.Exhausted, errors.Refused) as error:
        notes.append(f"what an interrupted submission or deletion left could not be cleared away: {error.message}")
    if not catalog.active():
        return tuple(notes)
    with ExitStack() as held:
        try:
            for run in _end_lost(catalog, home, held):
                notes.append(f"run {run.run_id} is {run.phase}: {run.failure_reason or 'its worker ended'}")
                _close(catalog, home, run)
        except (errors.Exhausted, errors.Refused) as error:
            notes.append(f"a run whose worker ended could not be put on record: {error.message}")
    return tuple(notes)


def reason(run: Run) -> str:
    """What is known of the end of a run whose worker is gone."""
    if run.phase == "PREPARING":
        where = "before its first update"
    elif run.observed_step == 0:
        where = "in its first updates, before one was recorded"
    else:
        where = f"after update {run.observed_step} of {run.steps}, the last one recorded"
    return f"the worker process ended without a word {where}; it was killed, or the machine went down"


def _end_lost(catalog: Catalog, home: Home, held: ExitStack) -> list[Run]:
    """Move lost runs to their last phase; `held` keeps others off them until their record is closed."""
    settled = claims.settle(home)
    if settled is None:
        return []
    ended = []
    with settled:
        for run in catalog.active():
            if (lock := claims.hold(home, run)) is not None:
                held.enter_context(lock)
                ended.append(_end(catalog, run))
    return [run for run in ended if run is not None]


def _end(catalog: Catalog, run: Run) -> Run | None:
    if catalog.cancel_requested(run.run_id):
        return catalog.set_phase(run.run_id, "CANCELLED", only_from=ACTIVE)
    return catalog.set_phase(
        run.run_id, "FAILED", only_from=ACTIVE, failure_code=WORKER_LOST, failure_reason=reason(run), resumable=True
    )


def _close(catalog: Catalog, home: Home, run: Run) -> None:
    from akka_optimize.trainer import closing  # numpy, for the rare command that finds a lost run

    folder = home.path / run.folder
    closing.close(catalog, folder, run, phase=run.phase, code=run.failure_code, reason=run.failure_reason)
    catalog.merge_metrics(run.run_id)
