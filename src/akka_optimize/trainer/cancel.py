"""Cancelling runs, and closing the record of those that nobody is at work on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.trainer import claims, recover, unclosed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from akka_optimize.records import Page, Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

WAITING = frozenset({"QUEUED", "PAUSED"})  # a run that no worker has, and that has not ended


def cancel(catalog: Catalog, home: Home, reference: str) -> Run:
    """Ask a run to stop. Raises NotFound, Ambiguous, Refused (it has ended)."""
    run = catalog.run(reference)
    waits = open_records(home, [run])
    run = catalog.request_cancel(run.run_id)
    close_records(catalog, home, [run] if run.run_id in waits else [])
    return run


def cancel_submission(catalog: Catalog, home: Home, submission_id: str) -> Page:
    """Ask every run of a submission that has not ended to stop. Raises NotFound."""
    waits = open_records(home, catalog.submitted_under(submission_id))
    page = catalog.request_cancel_submission(submission_id)
    close_records(catalog, home, [run for run in page.items if run.run_id in waits])
    return page


def open_records(home: Home, runs: Iterable[Run]) -> frozenset[str]:
    """Note of those runs that wait that their record is to be written: before their end is, so that a crash is seen.

    The ids of those. Where the end does not come, the note stays and does no harm.
    """
    waits = frozenset(run.run_id for run in runs if run.phase in WAITING)
    for run_id in sorted(waits):
        unclosed.mark(home, run_id)
    return waits


def close_records(catalog: Catalog, home: Home, runs: Collection[Run]) -> None:
    """Write the record of these runs, which waited and do so no more.

    A worker that has just paused a run may hold it for a moment still, and takes the note away when it goes.
    """
    for run in runs:
        if run.phase in recover.CLOSED and claims.let_go(home, run):
            unclosed.mark(home, run.run_id)
    if runs:
        recover.close_open(catalog, home)
