"""Runs: from submission, through the queue, to their end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, select, update

from akka_optimize import errors
from akka_optimize.records import PHASES, TERMINAL_PHASES, Division, Document, Page, Run
from akka_optimize.trainer.catalog import references, schema, workloads
from akka_optimize.trainer.catalog.base import Part, check_page, next_position
from akka_optimize.trainer.catalog.new import NewRun
from akka_optimize.trainer.names import check_not_id, shown

table = schema.runs
KIND = references.Kind("run", table.c.run_id, table.c.name, table.c.run_id, "akka-optimize training runs list")
ACTIVE = ("PREPARING", "TRAINING")
OPEN = tuple(phase for phase in PHASES if phase not in TERMINAL_PHASES)

_DIVISION = ("devices", "sequences_per_pass", "accumulation", "sequences_per_update")
_INTERNAL = ("position", "hparams", "cancel_requested")


class Runs(Part):
    """The catalog's runs."""

    def add_run(self, new: NewRun) -> Run:
        """Queue a run. Raises Conflict (run id or submission taken) and Invalid (a name that looks like an id)."""
        with self._database.write() as connection:
            insert_run(connection, new, self._now())
            return _run(connection, new.run_id)

    def run(self, reference: str) -> Run:
        """One run by id, unique name or prefix. Raises Invalid (empty), NotFound, Ambiguous."""
        with self._database.read() as connection:
            return _run(connection, references.find(connection, KIND, reference))

    def submitted(self, submission_id: str) -> Run | None:
        """The run that a submission started; None when it started none."""
        with self._database.read() as connection:
            row = connection.execute(_selected().where(table.c.submission_id == submission_id)).one_or_none()
        return None if row is None else _record(row)

    def runs(self, phase: str | None = None, workload: str | None = None, limit: int = 100, offset: int = 0) -> Page:
        """Runs, newest first; `phase` may be "open". Raises Invalid (phase, limit, offset), NotFound (workload)."""
        check_page(limit, offset)
        wanted = _phases(phase)
        with self._database.read() as connection:
            condition: list[ColumnElement[bool]] = [table.c.phase.in_(wanted)] if wanted else []
            if workload:
                condition.append(table.c.workload_id == references.find(connection, workloads.KIND, workload))
            total = connection.execute(select(func.count()).select_from(table).where(*condition)).scalar_one()
            rows = connection.execute(
                _selected().where(*condition).order_by(table.c.position.desc()).limit(limit).offset(offset)
            )
            return Page(tuple(_record(row) for row in rows), offset, total)

    def active(self) -> tuple[Run, ...]:
        """The runs that a worker has in hand, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(_selected().where(table.c.phase.in_(ACTIVE)).order_by(table.c.position))
            return tuple(_record(row) for row in rows)

    def counts(self) -> dict[str, int]:
        """How many runs are in each phase; phases without any are there too."""
        with self._database.read() as connection:
            found = connection.execute(select(table.c.phase, func.count().label("runs")).group_by(table.c.phase)).all()
        return dict.fromkeys(PHASES, 0) | {row.phase: row.runs for row in found}

    def claim(self) -> Run | None:
        """Take the oldest queued run into PREPARING as a new attempt; None when none waits. One caller gets it."""
        with self._database.write() as connection:
            oldest = select(table.c.run_id).where(table.c.phase == "QUEUED").order_by(table.c.position).limit(1)
            run_id = connection.execute(oldest).scalar()
            if run_id is None:
                return None
            connection.execute(
                update(table)
                .where(table.c.run_id == run_id)
                .values(
                    phase="PREPARING",
                    attempt=table.c.attempt + 1,
                    started_at=func.coalesce(table.c.started_at, self._now()),
                    cancel_requested=False,
                )
            )
            return _run(connection, run_id)

    def set_phase(
        self,
        run_id: str,
        phase: str,
        *,
        only_from: Collection[str],
        failure_code: str | None = None,
        failure_reason: str | None = None,
        resumable: bool = False,
    ) -> Run | None:
        """Move a run from one of the phases `only_from` to `phase`; None when it was in another one.

        Raises NotFound.
        """
        with self._database.write() as connection:
            if _phase(connection, run_id) not in only_from:
                return None
            _move(
                connection,
                run_id,
                phase,
                ended_at=self._now() if phase in TERMINAL_PHASES else None,
                failure_code=failure_code,
                failure_reason=failure_reason,
                resumable=resumable,
            )
            return _run(connection, run_id)

    def request_cancel(self, reference: str) -> Run:
        """Cancel a run that waits at once; ask the worker of one in hand, which may take until its next step.

        Raises Refused (it has ended), and as `run` does.
        """
        with self._database.write() as connection:
            run_id = references.find(connection, KIND, reference)
            phase = _phase(connection, run_id)
            if phase in TERMINAL_PHASES:
                raise errors.Refused(f"run {run_id} is {phase} and cannot be cancelled", field="run")
            if phase in ACTIVE:
                connection.execute(update(table).where(table.c.run_id == run_id).values(cancel_requested=True))
            else:
                _move(connection, run_id, "CANCELLED", ended_at=self._now())
            return _run(connection, run_id)

    def cancel_requested(self, run_id: str) -> bool:
        """Has somebody asked this run to stop? Raises NotFound."""
        return bool(self._value(run_id, "cancel_requested"))

    def set_environment(self, run_id: str, environment: Document) -> None:
        """Keep what the worker says of versions, device and threads. Raises NotFound."""
        self._set(run_id, environment=environment)

    def set_hparams(self, run_id: str, hparams: Document) -> None:
        """Keep the settings that decide the arithmetic. Raises NotFound."""
        self._set(run_id, hparams=hparams)

    def hparams(self, run_id: str) -> Document | None:
        """The settings that decide the arithmetic; None before the worker has written them. Raises NotFound."""
        found: Document | None = self._value(run_id, "hparams")
        return found

    def _value(self, run_id: str, name: str) -> Any:
        with self._database.read() as connection:
            row = connection.execute(select(table.c[name]).where(table.c.run_id == run_id)).one_or_none()
        if row is None:
            raise _unknown(run_id)
        return row[0]

    def _set(self, run_id: str, **values: Any) -> None:
        with self._database.write() as connection:
            if not connection.execute(update(table).where(table.c.run_id == run_id).values(**values)).rowcount:
                raise _unknown(run_id)


def insert_run(connection: Connection, new: NewRun, now: str) -> None:
    """Put a queued run into an open writing transaction. Raises as `Runs.add_run` does."""
    if new.name is not None:
        check_not_id(new.name, "run")
    if connection.execute(select(table.c.run_id).where(table.c.run_id == new.run_id)).scalar() is not None:
        raise errors.Conflict(f"a run {new.run_id} exists already", field="runId")
    if new.submission_id is not None:
        taken = connection.execute(select(table.c.run_id).where(table.c.submission_id == new.submission_id)).scalar()
        if taken is not None:
            raise errors.Conflict(
                f"submission {shown(new.submission_id)} started run {taken} already",
                field="submissionId",
                hint="use a new submissionId for another run",
            )
    values = asdict(new)
    values |= values.pop("division")
    connection.execute(
        insert(table).values(
            **values,
            position=next_position(connection, table.c.position),
            phase="QUEUED",
            attempt=0,
            cancel_requested=False,
            observed_step=0,
            resumable=False,
            created_at=now,
        )
    )


def _move(connection: Connection, run_id: str, phase: str, **values: Any) -> None:
    connection.execute(update(table).where(table.c.run_id == run_id).values(phase=phase, **values))


def _phase(connection: Connection, run_id: str) -> str:
    phase: str | None = connection.execute(select(table.c.phase).where(table.c.run_id == run_id)).scalar()
    if phase is None:
        raise _unknown(run_id)
    return phase


def require_run(connection: Connection, run_id: str) -> None:
    """Raise NotFound unless there is a run with exactly this id."""
    _phase(connection, run_id)


def _unknown(run_id: str) -> errors.NotFound:
    return errors.NotFound(f"no run has the id {shown(run_id)}", field="run", hint=f"`{KIND.command}` lists them")


def _phases(phase: str | None) -> tuple[str, ...]:
    """The phases that a filter lets through; none for no filter."""
    if not phase:
        return ()
    if phase == "open":
        return OPEN
    if phase not in PHASES:
        raise errors.Invalid(f"{shown(phase)} is no phase: use open, {', '.join(PHASES)}", field="phase")
    return (phase,)


def _selected() -> Select[Any]:
    columns = [column for column in table.columns if column.name not in _INTERNAL]
    named = schema.workloads.c.name.label("workload")
    return select(*columns, named).join(schema.workloads, schema.workloads.c.workload_id == table.c.workload_id)


def _run(connection: Connection, run_id: str) -> Run:
    row = connection.execute(_selected().where(table.c.run_id == run_id)).one_or_none()
    if row is None:
        raise _unknown(run_id)
    return _record(row)


def _record(row: Row[Any]) -> Run:
    values = dict(row._mapping)
    values["division"] = Division(**{name: values.pop(name) for name in _DIVISION})
    values["stated"] = tuple(values["stated"])
    return Run(**values)
