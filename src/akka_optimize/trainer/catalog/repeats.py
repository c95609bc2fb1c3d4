"""Runs that start the plan of another one again, submitted under one token, all or none."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from akka_optimize import errors
from akka_optimize.records import Run
from akka_optimize.trainer.catalog import fans, insertion, pins, runs, schema
from akka_optimize.trainer.catalog.base import Part
from akka_optimize.trainer.catalog.fans import Fan
from akka_optimize.trainer.catalog.new import NewRun
from akka_optimize.trainer.names import shown

table = schema.runs
HINT = "use a new submission token for other runs"


class Repetition(Part):
    """The catalog's repeats."""

    def repeats(self, submission_id: str, run_id: str, ids: Sequence[str]) -> tuple[Run, ...]:
        """The repeats of a run that a token has started, in the order of `ids`; none for a fresh token.

        `ids` are all those that the token and the run come to. Raises Conflict (the token stands for something else),
        Refused (one of them was deleted).
        """
        with self._database.read() as connection:
            return _there(connection, submission_id, run_id, ids)

    def add_repeats(self, run_id: str, new: Sequence[NewRun]) -> tuple[Run, ...]:
        """Queue repeats of a run, in this order, all of one plan and under one token; all of them, or none.

        Where the token has started them a moment ago, they are reached. Raises NotFound (the run), Exhausted (no room
        in the fan of a child's source), Refused (a swept artifact of it), and as `repeats`.
        """
        first, ids = new[0], [each.run_id for each in new]
        assert first.submission_id is not None
        with self._database.write() as connection:
            if there := _there(connection, first.submission_id, run_id, ids):
                return there
            runs.require_run(connection, run_id)
            if first.parent_run_id is not None:
                _require_source(connection, first, len(new))
            insertion.insert_rows(connection, new, self._now())
            return _found(connection, ids)


def _there(connection: Connection, submission_id: str, run_id: str, ids: Sequence[str]) -> tuple[Run, ...]:
    deleted = schema.deleted_runs
    alive = set(connection.execute(select(table.c.run_id).where(table.c.submission_id == submission_id)).scalars())
    under = select(deleted.c.run_id).where(deleted.c.submission_id == submission_id)
    gone = set(connection.execute(under).scalars())
    if not alive | gone:
        if (used := insertion.spent(connection, submission_id)) is not None:
            raise errors.Conflict(f"submission {shown(submission_id)} {used}", field="submissionId", hint=HINT)
        return ()
    if alive | gone != set(ids):
        raise _other(connection, submission_id, run_id, len(alive | gone), len(ids))
    if gone:
        told = [id for id in ids if id in gone]
        raise errors.Refused(
            f"repeat{'' if len(told) == 1 else 's'} {', '.join(told)} of run {run_id}, started under submission "
            f"{shown(submission_id)}, {'was' if len(told) == 1 else 'were'} deleted and cannot be started again under "
            "this token",
            field="submissionId",
            hint="use a new submission token",
        )
    return _found(connection, ids)


def _other(connection: Connection, submission_id: str, run_id: str, there: int, asked: int) -> errors.Conflict:
    repeated = select(table.c.repeats).where(table.c.submission_id == submission_id)
    if set(connection.execute(repeated).scalars()) == {run_id}:
        used = f"was made with times {there} instead of {asked}"
    else:
        used = insertion.spent(connection, submission_id) or ""
    return errors.Conflict(f"submission {shown(submission_id)} {used}", field="submissionId", hint=HINT)


def _require_source(connection: Connection, new: NewRun, count: int) -> None:
    """Raise Exhausted or Refused unless as many more children can take up what this one does."""
    parent, snapshot, restore = new.parent_run_id, new.source_snapshot_id, new.restore
    assert parent is not None
    assert snapshot is not None
    assert restore is not None
    fans.require_artifact(pins.snapshot_of(connection, snapshot), restore)
    try:
        fan = Fan(children={}, spent=frozenset(), phases=fans.phases(connection, parent, snapshot))
        fans.require_room(fan, count, snapshot)
    except errors.Exhausted as error:
        hint = "repeat it fewer times, or delete branches with `training runs delete`"
        raise errors.Exhausted(error.message, field="times", hint=hint) from None


def _found(connection: Connection, ids: Sequence[str]) -> tuple[Run, ...]:
    rows = connection.execute(runs.selected().where(table.c.run_id.in_(ids)))
    found = {run.run_id: run for run in map(runs.record, rows)}
    return tuple(found[id] for id in ids)
