"""Committed snapshots."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from akka_optimize.records import Artifact, Page, Snapshot
from akka_optimize.trainer.catalog import schema
from akka_optimize.trainer.catalog.base import Part, check_page
from akka_optimize.trainer.catalog.new import NewSnapshot
from akka_optimize.trainer.catalog.runs import require_run

table = schema.snapshots


class Snapshots(Part):
    """The catalog's snapshots."""

    def add_snapshot(self, new: NewSnapshot) -> Snapshot:
        """List a save, whose files are in place, and let its run point at it.

        Raises NotFound (run) and Conflict (the attempt has saved this step already).
        """
        with self._database.write() as connection:
            require_run(connection, new.run_id)
            connection.execute(insert(table).values(**asdict(new), created_at=self._now()))
            runs = schema.runs
            connection.execute(update(runs).where(runs.c.run_id == new.run_id).values(saved_step=new.step))
            row = connection.execute(select(table).where(table.c.snapshot_id == new.snapshot_id)).one()
            return _record(row, _best(connection, new.run_id))

    def snapshots(self, run_id: str, limit: int = 50, offset: int = 0) -> Page:
        """A run's snapshots, newest first. Raises NotFound (run), Invalid (limit, offset)."""
        check_page(limit, offset)
        of_run = table.c.run_id == run_id
        with self._database.read() as connection:
            require_run(connection, run_id)
            best = _best(connection, run_id)
            total = connection.execute(select(func.count()).select_from(table).where(of_run)).scalar_one()
            newest_first = select(table).where(of_run).order_by(table.c.attempt.desc(), table.c.step.desc())
            rows = connection.execute(newest_first.limit(limit).offset(offset))
            return Page(tuple(_record(row, best) for row in rows), offset, total)


def _best(connection: Connection, run_id: str) -> str | None:
    """The snapshot with the lowest finite validation loss, the earliest of equals."""
    columns = (table.c.snapshot_id, table.c.validation_loss, table.c.step, table.c.attempt)
    rows = connection.execute(select(*columns).where(table.c.run_id == run_id, table.c.validation_loss.is_not(None)))
    judged = [(loss, step, attempt, id) for id, loss, step, attempt in rows if math.isfinite(loss)]
    return min(judged)[3] if judged else None


def _record(row: Row[Any], best: str | None) -> Snapshot:
    values = dict(row._mapping)
    values["artifacts"] = tuple(Artifact(**artifact) for artifact in values["artifacts"])
    return Snapshot(**values, best=row.snapshot_id == best)
