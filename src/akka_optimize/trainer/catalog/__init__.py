"""The catalog: everything about datasets, workloads, runs, curves and snapshots that is looked up.

One module for each kind of thing; `Catalog` joins them. Methods open and close their own transaction, so what one
returns is of one moment, and what one changes is changed whole or not at all. Every one may raise, beside what it
names itself, Exhausted (disk full), Refused (damaged or unusable file) and TimedOut (held by another process).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.trainer.catalog import database
from akka_optimize.trainer.catalog.annotations import Annotations
from akka_optimize.trainer.catalog.attempts import Attempts
from akka_optimize.trainer.catalog.base import utc_now
from akka_optimize.trainer.catalog.database import Database
from akka_optimize.trainer.catalog.datasets import Datasets
from akka_optimize.trainer.catalog.deletion import Deletion
from akka_optimize.trainer.catalog.intake import Intake
from akka_optimize.trainer.catalog.lineage import Lineage
from akka_optimize.trainer.catalog.metrics import Metrics
from akka_optimize.trainer.catalog.migrations import migrate, require_kept
from akka_optimize.trainer.catalog.new import NewRun, NewSnapshot, NewSubmission
from akka_optimize.trainer.catalog.pins import Pins
from akka_optimize.trainer.catalog.repeats import Repetition
from akka_optimize.trainer.catalog.runs import Runs
from akka_optimize.trainer.catalog.snapshots import Snapshots
from akka_optimize.trainer.catalog.submissions import Submissions
from akka_optimize.trainer.catalog.workloads import Workloads

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from akka_optimize.trainer.home import Home

__all__ = ["Catalog", "NewRun", "NewSnapshot", "NewSubmission"]


class Catalog(
    Datasets,
    Workloads,
    Runs,
    Attempts,
    Metrics,
    Snapshots,
    Pins,
    Lineage,
    Submissions,
    Repetition,
    Deletion,
    Intake,
    Annotations,
):
    """One home's catalog; several processes and threads may have it open."""

    def __init__(self, home: Home, now: Callable[[], str], patience: float) -> None:
        self.home = home
        self.notes: tuple[str, ...] = ()  # what opening did
        self._now = now
        self._database = Database(home.catalog, patience)

    @classmethod
    def open(cls, home: Home, *, now: Callable[[], str] = utc_now, patience: float | None = None) -> Catalog:
        """The catalog of a home, made or brought up to date where needed.

        `patience` bounds the seconds that one transaction waits for another process; never more than `BUSY_SECONDS`.
        Raises Refused when a newer trainer made it, and when it is lost while the home holds runs.
        """
        most = database.BUSY_SECONDS
        catalog = cls(home, now, most if patience is None else min(patience, most))
        require_kept(home)
        try:
            catalog.notes = migrate(home, catalog._database, now)
        except BaseException:
            catalog.close()
            raise
        return catalog

    @property
    def patience(self) -> float:
        """Seconds for which one transaction waits for another process."""
        return self._database.patience

    def require_room(self) -> None:
        """Write something that changes nothing. Raises Exhausted where the disk is too full for it."""
        with self._database.write() as connection:
            connection.exec_driver_sql("UPDATE catalog_versions SET version = version")

    def close(self) -> None:
        """Close its connections."""
        self._database.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
