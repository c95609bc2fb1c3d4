"""Fans: children of one parent from one snapshot, submitted under one token, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from sqlalchemy import Connection, insert, select

from akka_optimize import errors
from akka_optimize.records import TERMINAL_PHASES, Page, Run, Snapshot
from akka_optimize.trainer.catalog import fans, insertion, pins, runs, schema
from akka_optimize.trainer.catalog.base import Part
from akka_optimize.trainer.catalog.fans import Fan
from akka_optimize.trainer.catalog.new import NewRun, NewSubmission

table = schema.submissions
children = schema.runs


class Submissions(Part):
    """The catalog's fans."""

    def source(self, parent_run_id: str, reference: str) -> Snapshot:
        """A run's own snapshot, by id or prefix.

        Raises Invalid (empty), NotFound, Ambiguous, Refused (it is another run's).
        """
        with self._database.read() as connection:
            return pins.snapshot_of(connection, fans.source(connection, parent_run_id, reference))

    def fan(self, submission: NewSubmission) -> Fan:
        """What there is under a token, and from its snapshot. Raises Conflict (the token is bound to another fan)."""
        with self._database.read() as connection:
            return fans.fan_of(connection, submission)

    def add_children(self, submission: NewSubmission, new: Sequence[NewRun]) -> tuple[Run, ...]:
        """Queue children under a token, in this order; all of them, or none.

        What was found when they were resolved is looked at again. Raises NotFound (parent), Conflict (token, id),
        Refused (a spent id, a swept artifact), Exhausted (no room in the fan).
        """
        ids = [child.run_id for child in new]
        with self._database.write() as connection:
            runs.require_run(connection, submission.parent_run_id)
            fan = fans.fan_of(connection, submission)
            fans.require_unspent(fan, ids)
            _require_unused(connection, ids)
            fans.require_artifact(pins.snapshot_of(connection, submission.snapshot_id), submission.restore)
            fans.require_room(fan, len(new), submission.snapshot_id)
            now = self._now()
            if fans.bound(connection, submission.submission_id) is None:
                values = {field.name: getattr(submission, field.name) for field in fields(submission)}
                connection.execute(insert(table).values(**values, created_at=now))
            insertion.insert_rows(connection, new, now)
            added = runs.selected().where(children.c.run_id.in_(ids)).order_by(children.c.position)
            return tuple(map(runs.record, connection.execute(added)))

    def submitted_under(self, submission_id: str) -> tuple[Run, ...]:
        """The runs of a submission, newest first; none for a token that is not known."""
        under = runs.selected().where(children.c.submission_id == submission_id)
        with self._database.read() as connection:
            return tuple(map(runs.record, connection.execute(under.order_by(children.c.position.desc()))))

    def request_cancel_submission(self, submission_id: str) -> Page:
        """Ask every run of a submission that has not ended to stop; all its runs, newest first. Raises NotFound."""
        under = children.c.submission_id == submission_id
        with self._database.write() as connection:
            fans.require_submission(connection, submission_id)
            now = self._now()
            for run_id, phase in connection.execute(select(children.c.run_id, children.c.phase).where(under)).all():
                if phase not in TERMINAL_PHASES:
                    runs.ask_to_stop(connection, run_id, phase, now)
            rows = connection.execute(runs.selected().where(under).order_by(children.c.position.desc()))
            found = tuple(map(runs.record, rows))
        return Page(found, 0, len(found))


def _require_unused(connection: Connection, ids: Sequence[str]) -> None:
    taken = connection.execute(select(children.c.run_id).where(children.c.run_id.in_(ids))).scalars().all()
    if taken:
        raise errors.Conflict(f"there are runs {', '.join(taken)} already", field="points")
