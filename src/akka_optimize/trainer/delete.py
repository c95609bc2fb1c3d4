"""Deleting a run: its folder leaves its place, the catalog forgets the run, and only then are the files removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import claims, files, unfinished

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home, Lock


def delete(catalog: Catalog, home: Home, reference: str) -> Run:
    """Delete a run that has ended, with its folder; what it was. Its id stays spent.

    Raises NotFound, Ambiguous, Refused (it has not ended, has children, a pinned snapshot, or a worker that still
    writes its record), Exhausted (disk), TimedOut.
    """
    run_id = catalog.run(reference).run_id
    with unfinished.alone(catalog, home):
        run = catalog.run(run_id)
        catalog.require_deletable(run_id)
        with _unworked(home, run), unfinished.moving(catalog, home, [run.folder]):
            place = home.path / run.folder
            with files.translated(place):
                if place.exists():  # or somebody has removed it by hand
                    place.rename(unfinished.beside(place))
                    files.flush_folder(home.runs)
            return catalog.delete_run(run_id)


def _unworked(home: Home, run: Run) -> Lock:
    lock = claims.hold(home, run)
    if lock is None:
        raise errors.Refused(
            f"a worker is still writing the record of run {run.run_id}", field="run", hint="try again in a moment"
        )
    return lock
