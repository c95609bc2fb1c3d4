"""Committed snapshots."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from akka_optimize import errors
from akka_optimize.records import Artifact, Page, Snapshot
from akka_optimize.trainer.catalog import holds, schema
from akka_optimize.trainer.catalog.base import Part, check_page
from akka_optimize.trainer.catalog.new import NewSnapshot
from akka_optimize.trainer.catalog.runs import require_run
from akka_optimize.trainer.names import shown

table = schema.snapshots
SWEPT = "Swept"  # the status of a snapshot of which no artifact is left


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
            told: dict[str, Any] = {"saved_step": new.step, "last_snapshot_id": new.snapshot_id}
            if best(connection, new.run_id) == new.snapshot_id:
                told |= {
                    "best_snapshot_id": new.snapshot_id,
                    "best_step": new.step,
                    "best_validation_loss": new.validation_loss,
                }
            connection.execute(update(runs).where(runs.c.run_id == new.run_id).values(**told))
            row = connection.execute(select(table).where(table.c.snapshot_id == new.snapshot_id)).one()
            return record(row, best(connection, new.run_id))

    def snapshots(self, run_id: str, limit: int = 50, offset: int = 0) -> Page:
        """A run's snapshots, newest first. Raises NotFound (run), Invalid (limit, offset)."""
        check_page(limit, offset)
        of_run = table.c.run_id == run_id
        with self._database.read() as connection:
            require_run(connection, run_id)
            chosen = best(connection, run_id)
            total = connection.execute(select(func.count()).select_from(table).where(of_run)).scalar_one()
            newest_first = select(table).where(of_run).order_by(table.c.attempt.desc(), table.c.step.desc())
            rows = connection.execute(newest_first.limit(limit).offset(offset)).all()
            held = holds.holders(connection, [row.snapshot_id for row in rows])
            return Page(tuple(record(row, chosen, held[row.snapshot_id]) for row in rows), offset, total)

    def unswept(self, run_id: str) -> tuple[Snapshot, ...]:
        """A run's snapshots that have an artifact left, newest first; who holds them is left out."""
        left = select(table).where(table.c.run_id == run_id, table.c.status != SWEPT)
        with self._database.read() as connection:
            chosen = best(connection, run_id)
            rows = connection.execute(left.order_by(table.c.attempt.desc(), table.c.step.desc()))
            return tuple(record(row, chosen) for row in rows)

    def sweep(self, snapshot_id: str, kinds: Collection[str]) -> frozenset[str]:
        """Give up these artifacts of a snapshot, but for those that are held; of the best one, none.

        Returns the kinds whose files may now be deleted: whoever asks for them from here on finds them swept.
        Raises NotFound.
        """
        with self._database.write() as connection:
            row = connection.execute(select(table).where(table.c.snapshot_id == snapshot_id)).one_or_none()
            if row is None:
                raise errors.NotFound(f"no snapshot has the id {shown(snapshot_id)}", field="snapshot")
            found = record(row, best(connection, row.run_id))
            there = {artifact.kind for artifact in found.artifacts if not artifact.swept}
            due = frozenset(there & set(kinds) - holds.held_kinds(connection, snapshot_id))
            if found.best or not due:
                return frozenset()
            left = [replace(artifact, swept=artifact.swept or artifact.kind in due) for artifact in found.artifacts]
            connection.execute(
                update(table)
                .where(table.c.snapshot_id == snapshot_id)
                .values(
                    artifacts=[asdict(artifact) for artifact in left],
                    status=SWEPT if all(artifact.swept for artifact in left) else found.status,
                )
            )
            return due


def best(connection: Connection, run_id: str) -> str | None:
    """The snapshot with the lowest finite validation loss, the earliest of equals."""
    columns = (table.c.snapshot_id, table.c.validation_loss, table.c.step, table.c.attempt)
    rows = connection.execute(select(*columns).where(table.c.run_id == run_id, table.c.validation_loss.is_not(None)))
    judged = [(loss, step, attempt, id) for id, loss, step, attempt in rows if math.isfinite(loss)]
    return min(judged)[3] if judged else None


def record(row: Row[Any], best: str | None, held_by: tuple[str, ...] = ()) -> Snapshot:
    """A row of the table, told which snapshot of its run is the best and who holds this one."""
    values = dict(row._mapping)
    values["artifacts"] = tuple(Artifact(**artifact) for artifact in values["artifacts"])
    return Snapshot(**values, best=row.snapshot_id == best, held_by=held_by)
