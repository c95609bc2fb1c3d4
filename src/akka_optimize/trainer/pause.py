"""Pausing a run: at once where it waits, through its worker where one has it in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.trainer import cancel

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home


def pause(catalog: Catalog, home: Home, reference: str, checkpoint: str) -> Run:
    """Ask a run to pause at a `checkpoint`, "save" or "latest".

    Raises NotFound, Ambiguous, Invalid (checkpoint), Refused (it has ended, is paused, or has trained and "latest" has
    nothing to fall back to).
    """
    found = catalog.run(reference)
    waits = cancel.open_records(home, [found] if found.phase == "QUEUED" else [])
    run = catalog.request_pause(found.run_id, checkpoint)
    cancel.close_records(catalog, home, [run] if run.run_id in waits else [])
    return run
