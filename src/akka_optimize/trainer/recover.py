"""What processes that died left behind: whoever comes next puts folders right, ends lost runs, closes their record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.records import TERMINAL_PHASES
from akka_optimize.trainer import claims, failures, unclosed, unfinished

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

ACTIVE = ("PREPARING", "TRAINING")
CLOSED = TERMINAL_PHASES | {"PAUSED"}  # the phases in which a run's record is whole


def recover(catalog: Catalog, home: Home) -> tuple[str, ...]:
    """End every run that is claimed and held by nobody; one sentence for each.

    It is FAILED with WORKER_LOST and resumable, CANCELLED where that was asked for already, or PAUSED where it was to
    pause without another save. Where the disk does not allow it, a sentence says that instead, and the next one to come
    tries again. Folders that a submission or a deletion left half moved are put right without a word. Never loads an
    engine.
    """
    notes = []
    try:
        unfinished.settle(catalog, home)
    except (errors.Exhausted, errors.Refused) as error:
        notes.append(f"what an interrupted submission or deletion left could not be cleared away: {error.message}")
    ended, fault = end_lost(catalog, home)
    notes += [f"run {run.run_id} is {run.phase}: {run.failure_reason or 'its worker is gone'}" for run in ended]
    if fault is not None:
        notes.append(f"a run whose worker ended could not be put on record: {fault.message}")
    return (*notes, *close_open(catalog, home))


def end_lost(catalog: Catalog, home: Home) -> tuple[list[Run], errors.AkkaError | None]:
    """Move lost runs to their last phase; those, and what kept another one from it (Exhausted, Refused)."""
    ended: list[Run] = []
    fault: errors.AkkaError | None = None
    if not catalog.active_states() or (settled := claims.settle(home)) is None:
        return ended, fault
    with settled:
        for state in catalog.active_states():
            if (lock := claims.hold(home, state)) is not None:
                with lock:
                    try:
                        ended += _end(catalog, home, catalog.run(state.run_id))
                    except (errors.Exhausted, errors.Refused) as error:
                        fault = error
    return ended, fault


def close_open(catalog: Catalog, home: Home) -> tuple[str, ...]:
    """Close the record of every run that has ended and whose record is open; a sentence for each that cannot be closed.

    One that cannot stands in the way of no other, and is tried again by the next one to come.
    """
    return tuple(note for run_id in unclosed.marked(home) if (note := _close_one(catalog, home, run_id)) is not None)


def reason(run: Run) -> str:
    """What is known of the end of a run whose worker is gone."""
    if run.phase == "PREPARING":
        where = "before its first update"
    elif run.observed_step == 0:
        where = "in its first updates, before one was recorded"
    else:
        where = f"after update {run.observed_step} of {run.steps}, the last one recorded"
    return f"the worker process ended without a word {where}; it was killed, or the machine went down"


def _end(catalog: Catalog, home: Home, run: Run) -> list[Run]:
    """The run as it ended; none when its worker has ended it since somebody looked."""
    was_open = unclosed.is_marked(home, run.run_id)
    unclosed.mark(home, run.run_id)
    asked = catalog.requests(run.run_id)
    if asked.cancel:
        ended = catalog.set_phase(run.run_id, "CANCELLED", only_from=ACTIVE)
    elif asked.pause == "latest":  # the worker's end is what it asked for
        ended = catalog.set_phase(run.run_id, "PAUSED", only_from=ACTIVE)
    else:
        ended = catalog.set_phase(
            run.run_id,
            "FAILED",
            only_from=ACTIVE,
            failure_code=failures.WORKER_LOST,
            failure_reason=reason(run),
            resumable=True,
        )
    if ended is None and not was_open:
        unclosed.clear(home, run.run_id)
    return [] if ended is None else [ended]


def _close_one(catalog: Catalog, home: Home, run_id: str) -> str | None:
    try:
        run = catalog.run(run_id)
        if run.run_id != run_id:
            unclosed.clear(home, run_id)
            return None
        if run.phase not in CLOSED or (lock := claims.hold(home, run)) is None:
            return None
        with lock:
            if unclosed.is_marked(home, run_id) and (home.path / run.folder).is_dir():
                _close(catalog, home, run)
            unclosed.clear(home, run_id)
    except (errors.NotFound, errors.Ambiguous):  # it was deleted, or is no run's
        unclosed.clear(home, run_id)
    except (errors.Exhausted, errors.Refused) as error:
        return f"the record of run {run_id} could not be closed: {error.message}"
    return None


def _close(catalog: Catalog, home: Home, run: Run) -> None:
    from akka_optimize.trainer import closing  # numpy, for the rare command that finds a lost run

    folder = home.path / run.folder
    closing.close(
        catalog,
        folder,
        run,
        phase=run.phase,
        code=run.failure_code,
        reason=run.failure_reason,
        ended_at=run.ended_at,
        pause=run.pause,
    )
    catalog.merge_metrics(run.run_id)
