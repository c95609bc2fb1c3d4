"""Deleting runs."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select

from akka_optimize import errors
from akka_optimize.records import TERMINAL_PHASES, Run
from akka_optimize.trainer.catalog import runs, schema
from akka_optimize.trainer.catalog.base import Part

table = schema.runs


class Deletion(Part):
    """The end of the catalog's runs."""

    def require_deletable(self, run_id: str) -> None:
        """Raise as `delete_run` does, and change nothing."""
        with self._database.read() as connection:
            _require_deletable(connection, run_id)

    def delete_run(self, run_id: str) -> Run:
        """Forget a run that has ended, with its curves and snapshots; what it was. Its id is never given out again.

        Raises NotFound, Refused (it has not ended, has children, or one of its snapshots is pinned).
        """
        with self._database.write() as connection:
            _require_deletable(connection, run_id)
            run = runs.run_of(connection, run_id)
            for part in (schema.metric_chunks, schema.snapshots, table):
                connection.execute(delete(part).where(part.c.run_id == run_id))
            spent = {"run_id": run_id, "submission_id": run.submission_id, "deleted_at": self._now()}
            connection.execute(insert(schema.deleted_runs).values(**spent))
        return run


def _require_deletable(connection: Connection, run_id: str) -> None:
    phase = runs.phase_of(connection, run_id)
    if phase not in TERMINAL_PHASES:
        raise errors.Refused(
            f"run {run_id} is {phase}, and only a run that has ended can be deleted",
            field="run",
            hint=f"`training runs cancel {run_id}` ends it",
        )
    children = connection.execute(select(func.count()).where(table.c.parent_run_id == run_id)).scalar_one()
    if children:
        raise errors.Refused(
            f"run {run_id} has {'1 child run, which needs' if children == 1 else f'{children} child runs, which need'} "
            "what it saved",
            field="run",
            hint=f"delete them first; `training runs tree {run_id}` shows them",
        )
    pins, snapshots = schema.pins, schema.snapshots
    pinned = select(pins.c.snapshot_id).join(snapshots, snapshots.c.snapshot_id == pins.c.snapshot_id)
    if found := connection.execute(pinned.where(snapshots.c.run_id == run_id).limit(1)).scalar():
        raise errors.Refused(
            f"snapshot {found[:16]} of run {run_id} is pinned",
            field="run",
            hint=f"`training snapshots unpin {found[:16]}` lets go of it",
        )
