"""Runs on their way into the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, insert, select

from akka_optimize import errors
from akka_optimize.trainer.catalog import schema
from akka_optimize.trainer.catalog.base import next_position
from akka_optimize.trainer.catalog.new import NewRun
from akka_optimize.trainer.names import check_not_id, shown

table = schema.runs


def insert_run(connection: Connection, new: NewRun, now: str) -> None:
    """Put a queued run into an open writing transaction. Raises as `Runs.add_run` does."""
    if new.name is not None:
        check_not_id(new.name, "run")
    if connection.execute(select(table.c.run_id).where(table.c.run_id == new.run_id)).scalar() is not None:
        raise errors.Conflict(f"a run {new.run_id} exists already", field="runId")
    if new.submission_id is not None and (used := spent(connection, new.submission_id)):
        raise errors.Conflict(
            f"submission {shown(new.submission_id)} {used}",
            field="submissionId",
            hint="use a new submissionId for another run",
        )
    insert_rows(connection, [new], now)


def insert_rows(connection: Connection, runs: Sequence[NewRun], now: str) -> None:
    """Queue runs, in this order, in an open writing transaction; the caller has made sure that none is there."""
    first = next_position(connection, table.c.position)
    known = {
        "phase": "QUEUED",
        "attempt": 0,
        "cancel_requested": False,
        "observed_step": 0,
        "resumable": False,
        "created_at": now,
    }
    connection.execute(
        insert(table), [columns(new) | known | {"position": position} for position, new in enumerate(runs, first)]
    )


def columns(new: NewRun) -> dict[str, Any]:
    """The columns of a run that are known at submission."""
    values = {field.name: getattr(new, field.name) for field in fields(NewRun)}
    values |= asdict(values.pop("division"))
    return values


def spent(connection: Connection, submission_id: str) -> str | None:
    """What the token was used for; None for a fresh one."""
    taken = connection.execute(select(table.c.run_id).where(table.c.submission_id == submission_id)).scalar()
    if taken is not None:
        return f"started run {taken} already"
    deleted, fans = schema.deleted_runs, schema.submissions
    gone = connection.execute(select(deleted.c.run_id).where(deleted.c.submission_id == submission_id)).scalar()
    if gone is not None:
        return f"started run {gone}, which was deleted"
    fan = connection.execute(select(fans.c.parent_run_id).where(fans.c.submission_id == submission_id)).scalar()
    return None if fan is None else f"started children of run {fan}"
