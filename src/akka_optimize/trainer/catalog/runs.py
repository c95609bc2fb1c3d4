"""Runs: from submission, through the queue, to their end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, select, update

from akka_optimize import errors
from akka_optimize.records import (
    PHASES,
    TERMINAL_PHASES,
    Division,
    Document,
    EngineConfig,
    EngineRuntime,
    Page,
    Pause,
    Run,
)
from akka_optimize.trainer.catalog import insertion, references, schema, workloads
from akka_optimize.trainer.catalog.base import Part, check_page
from akka_optimize.trainer.catalog.new import NewRun
from akka_optimize.trainer.names import shown

table = schema.runs
KIND = references.Kind("run", table.c.run_id, table.c.name, table.c.run_id, "akka-optimize training runs list")
ACTIVE = ("PREPARING", "TRAINING")
OPEN = tuple(phase for phase in PHASES if phase not in TERMINAL_PHASES)

_DIVISION = ("devices", "sequences_per_pass", "accumulation", "sequences_per_update")
_INTERNAL = ("position", "hparams", "cancel_requested", "pause_requested", "engine_config", "engine_runtime")


@dataclass(frozen=True, slots=True)
class RunState:
    """What changes about a run while it is carried out, without the documents that make the rest long to read."""

    run_id: str
    phase: str
    observed_step: int
    steps: int
    loss: float | None
    failure_code: str | None
    failure_reason: str | None


_STATE = [table.c[field.name] for field in fields(RunState)]


class Runs(Part):
    """The catalog's runs."""

    def add_run(self, new: NewRun) -> Run:
        """Queue a run. Raises Conflict (run id or submission taken) and Invalid (a name that looks like an id)."""
        with self._database.write() as connection:
            insertion.insert_run(connection, new, self._now())
            return run_of(connection, new.run_id)

    def run(self, reference: str) -> Run:
        """One run by id, unique name or prefix. Raises Invalid (empty), NotFound, Ambiguous."""
        with self._database.read() as connection:
            if references.HEX.fullmatch(reference) and (row := _row(connection, reference)) is not None:
                return record(row)  # as whoever follows a run asks, again and again
            return run_of(connection, references.find(connection, KIND, reference))

    def submitted(self, submission_id: str) -> Run | None:
        """The run that a descriptor started under its token; None when none did. Children and repeats do not count."""
        alone = (
            table.c.submission_id == submission_id,
            table.c.parent_run_id.is_(None),
            table.c.repeats.is_(None),
        )
        with self._database.read() as connection:
            row = connection.execute(selected().where(*alone)).one_or_none()
        return None if row is None else record(row)

    def runs(self, phase: str | None = None, workload: str | None = None, limit: int = 100, offset: int = 0) -> Page:
        """Runs, newest first; `phase` may be "open". Raises Invalid (phase, limit, offset), NotFound (workload)."""
        check_page(limit, offset)
        wanted = _phases(phase)
        with self._database.read() as connection:
            condition: list[ColumnElement[bool]] = [table.c.phase.in_(wanted)] if wanted else []
            if workload:
                condition.append(table.c.workload_id == references.find(connection, workloads.KIND, workload))
            total = connection.execute(select(func.count()).select_from(table).where(*condition)).scalar_one()
            # The places first, from an index alone: whole rows that a far page skips would all be read.
            places = select(table.c.position).where(*condition).order_by(table.c.position.desc())
            places = places.limit(limit).offset(offset)
            rows = connection.execute(selected().where(table.c.position.in_(places)).order_by(table.c.position.desc()))
            return Page(tuple(record(row) for row in rows), offset, total)

    def folders(self, among: Collection[str]) -> frozenset[str]:
        """Those of these folders that a run has."""
        with self._database.read() as connection:
            found = connection.execute(select(table.c.folder).where(table.c.folder.in_(among)))
            return frozenset(found.scalars())

    def active(self) -> tuple[Run, ...]:
        """The runs that a worker has in hand, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(selected().where(table.c.phase.in_(ACTIVE)).order_by(table.c.position))
            return tuple(record(row) for row in rows)

    def states(self, run_ids: Collection[str]) -> dict[str, RunState]:
        """Where these runs are, by id; those that are not there are left out."""
        with self._database.read() as connection:
            rows = connection.execute(select(*_STATE).where(table.c.run_id.in_(run_ids)))
            return {row.run_id: RunState(*row) for row in rows}

    def active_states(self) -> tuple[RunState, ...]:
        """Where the runs are that a worker has in hand, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(*_STATE).where(table.c.phase.in_(ACTIVE)).order_by(table.c.position))
            return tuple(RunState(*row) for row in rows)

    def counts(self) -> dict[str, int]:
        """How many runs are in each phase; phases without any are there too."""
        with self._database.read() as connection:
            found = connection.execute(select(table.c.phase, func.count().label("runs")).group_by(table.c.phase)).all()
        return dict.fromkeys(PHASES, 0) | {row.phase: row.runs for row in found}

    def set_phase(
        self,
        run_id: str,
        phase: str,
        *,
        only_from: Collection[str],
        failure_code: str | None = None,
        failure_reason: str | None = None,
        resumable: bool = False,
        pause: Pause | None = None,
        ended_at: str | None = None,
    ) -> Run | None:
        """Move a run from one of the phases `only_from` to `phase`; None when it was in another one.

        `pause`, for PAUSED alone: by default the one that was asked for. `ended_at`: when a last phase came, by default
        now. Raises NotFound.
        """
        with self._database.write() as connection:
            run = run_of(connection, run_id)
            if run.phase not in only_from:
                return None
            told = {"failure_code": failure_code, "failure_reason": failure_reason, "resumable": resumable}
            if phase in TERMINAL_PHASES or phase == "PAUSED":
                still = pause or (None if run.pause is None else replace(run.pause, resources_released=True))
                paused = asdict(still) if phase == "PAUSED" and still is not None else None
                end(connection, run, phase, ended_at or self._now(), **told, pause=paused)
            else:
                move(connection, run_id, phase, **told, ended_at=None)
            return run_of(connection, run_id)

    def request_cancel(self, reference: str) -> Run:
        """Cancel a run that waits at once; ask the worker of one in hand, which may take until its next step.

        Raises Refused (it has ended), and as `run` does.
        """
        with self._database.write() as connection:
            run_id = references.find(connection, KIND, reference)
            phase = phase_of(connection, run_id)
            if phase in TERMINAL_PHASES:
                raise errors.Refused(f"run {run_id} is {phase} and cannot be cancelled", field="run")
            ask_to_stop(connection, run_id, phase, self._now())
            return run_of(connection, run_id)

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

    def set_engine_config(self, run_id: str, *, requested: Document, resolved: Document) -> None:
        """Keep what the engine was asked for, and made of it. Raises NotFound."""
        self._set(run_id, engine_config={"requested": requested, "resolved": resolved})

    def set_engine_runtime(self, run_id: str, attempt: int, runtime: Document) -> None:
        """Keep what the engine decided and used in this attempt. Raises NotFound."""
        self._set(run_id, engine_runtime={"attempt": attempt, "runtime": runtime})

    def engine_config(self, reference: str) -> EngineConfig:
        """What the engine was asked for, and made of it. Raises NotFound (run, or not written yet), Ambiguous."""
        run_id, found = self._told(reference, "engine_config", "engine configuration")
        return EngineConfig(run_id, found["requested"], found["resolved"])

    def engine_runtime(self, reference: str) -> EngineRuntime:
        """What the engine decided and used, in the latest attempt that said so. Raises as `engine_config`."""
        run_id, found = self._told(reference, "engine_runtime", "engine runtime")
        return EngineRuntime(run_id, found["attempt"], found["runtime"])

    def _told(self, reference: str, name: str, what: str) -> tuple[str, Document]:
        run_id = self.run(reference).run_id
        found: Document | None = self._value(run_id, name)
        if found is None:
            raise errors.NotFound(
                f"run {run_id} has recorded no {what} yet", hint="it is written when its worker begins"
            )
        return run_id, found

    def _value(self, run_id: str, name: str) -> Any:
        with self._database.read() as connection:
            row = connection.execute(select(table.c[name]).where(table.c.run_id == run_id)).one_or_none()
        if row is None:
            raise unknown(run_id)
        return row[0]

    def _set(self, run_id: str, **values: Any) -> None:
        with self._database.write() as connection:
            if not connection.execute(update(table).where(table.c.run_id == run_id).values(**values)).rowcount:
                raise unknown(run_id)


def move(connection: Connection, run_id: str, phase: str, **values: Any) -> None:
    """Set a run's phase, and columns that go with it."""
    connection.execute(update(table).where(table.c.run_id == run_id).values(phase=phase, **values))


def end(connection: Connection, run: Run, phase: str, now: str, **values: Any) -> None:
    """Let a run end, or stand still, in `phase`, with the columns that go with it; but for COMPLETED it is an event."""
    told = {"pause_requested": None, "pause": None, "ended_at": now if phase in TERMINAL_PHASES else None} | values
    move(connection, run.run_id, phase, **told)
    if phase != "COMPLETED":
        event = ended(run, phase, now, values.get("failure_code"), values.get("failure_reason"))
        append_event(connection, run.run_id, event)


def ended(run: Run, phase: str, at: str, code: str | None, reason: str | None) -> Document:
    """The event of an attempt that ended, or came to stand still, in a `phase` other than COMPLETED."""
    return {
        "at": at,
        "kind": "ended",
        "attempt": run.attempt,
        "phase": phase,
        "code": code,
        "reason": reason,
        "step": run.observed_step,
    }


def append_event(connection: Connection, run_id: str, event: Document) -> None:
    """Put an event, which has `at`, `kind` and `attempt`, after those that the run has. Raises NotFound."""
    events = connection.execute(select(table.c.events).where(table.c.run_id == run_id)).scalar()
    if events is None:
        raise unknown(run_id)
    connection.execute(update(table).where(table.c.run_id == run_id).values(events=[*events, event]))


def ask_to_stop(connection: Connection, run_id: str, phase: str, now: str) -> None:
    """Cancel a run that is not terminal: at once, or through its worker where it has one."""
    if phase in ACTIVE:
        connection.execute(update(table).where(table.c.run_id == run_id).values(cancel_requested=True))
    else:
        end(connection, run_of(connection, run_id), "CANCELLED", now, failure_code=None, failure_reason=None)


def phase_of(connection: Connection, run_id: str) -> str:
    """The phase of the run with exactly this id. Raises NotFound."""
    phase: str | None = connection.execute(select(table.c.phase).where(table.c.run_id == run_id)).scalar()
    if phase is None:
        raise unknown(run_id)
    return phase


def require_run(connection: Connection, run_id: str) -> None:
    """Raise NotFound unless there is a run with exactly this id."""
    phase_of(connection, run_id)


def unknown(run_id: str) -> errors.NotFound:
    """What to raise for an id that no run has."""
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


@cache
def selected() -> Select[Any]:
    """Runs with their workload's name: what `record` reads. Made once, for to make it takes as long as to run it."""
    columns = [column for column in table.columns if column.name not in _INTERNAL]
    named = schema.workloads.c.name.label("workload")
    return select(*columns, named).join(schema.workloads, schema.workloads.c.workload_id == table.c.workload_id)


@cache
def _with_id() -> Select[Any]:
    return selected().where(table.c.run_id == bindparam("id"))


def _row(connection: Connection, run_id: str) -> Row[Any] | None:
    return connection.execute(_with_id(), {"id": run_id}).one_or_none()


def run_of(connection: Connection, run_id: str) -> Run:
    """The run with exactly this id. Raises NotFound."""
    row = _row(connection, run_id)
    if row is None:
        raise unknown(run_id)
    return record(row)


def record(row: Row[Any]) -> Run:
    """A row of `selected`."""
    values = dict(row._mapping)
    values["division"] = Division(**{name: values.pop(name) for name in _DIVISION})
    values["stated"] = tuple(values["stated"])
    values["events"] = tuple(values["events"])
    values["changed"] = None if values["changed"] is None else tuple(values["changed"])
    values["pause"] = None if values["pause"] is None else Pause(**values["pause"])
    return Run(**values)
