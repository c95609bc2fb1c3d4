"""Runs of another catalog, taken into this one with everything that is known of them: all of them, or none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, insert, or_, select

from akka_optimize import errors
from akka_optimize.records import Run
from akka_optimize.trainer.catalog import datasets, fans, insertion, metrics, runs, schema, workloads
from akka_optimize.trainer.catalog.base import Part, next_position
from akka_optimize.trainer.catalog.new import NewRun, NewSnapshot, NewSubmission
from akka_optimize.trainer.names import shown

if TYPE_CHECKING:
    from akka_optimize.protocol import trainer_pb2 as pb
    from akka_optimize.trainer.datasets import Stored

table = schema.runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A run as its folder tells of it, and whose folder is in its place.

    `run.workload_id` is the one that it had elsewhere; `state`: the columns of a run that change while it is carried
    out; `chunks` are below the limit, in the order of recording; `snapshots` each with the time of its commit.
    """

    run: NewRun
    workload: str  # name
    dataset: Stored
    created_at: str
    state: dict[str, Any]
    chunks: tuple[pb.MetricsChunk, ...]
    snapshots: tuple[tuple[NewSnapshot, str], ...]


class Intake(Part):
    """The catalog's runs, as they come from elsewhere."""

    def known(self, run_ids: Collection[str]) -> dict[str, Run]:
        """Those of these runs that are in the catalog, by id."""
        with self._database.read() as connection:
            rows = connection.execute(runs.selected().where(table.c.run_id.in_(run_ids)))
            return {run.run_id: run for run in map(runs.record, rows)}

    def take_in(self, taken: Sequence[Taken]) -> tuple[str, ...]:
        """Put runs, parents before their children, after all that there are; what is worth saying of it.

        The id of a deleted run is its own again. Raises Conflict (an id is taken), NotFound (a parent), Refused (the
        parent has not got the snapshot).
        """
        with self._database.write() as connection:
            now, notes = self._now(), list[str]()
            for each in taken:
                notes += _take(connection, each, now)
            return tuple(dict.fromkeys(notes))


def _take(connection: Connection, taken: Taken, now: str) -> Iterator[str]:
    run_id = taken.run.run_id
    if connection.execute(select(table.c.run_id).where(table.c.run_id == run_id)).scalar() is not None:
        raise errors.Conflict(f"a run {run_id} was made meanwhile", field="runId", hint="import it again")
    require_source(connection, taken.run)
    forgotten = schema.deleted_runs.c.run_id == run_id
    if connection.execute(delete(schema.deleted_runs).where(forgotten)).rowcount:
        yield f"run {run_id} had been deleted here, and is back"
    yield from _list_rows(connection, taken, now)
    token, told = _token(connection, taken.run, now)
    yield from told
    run = replace(taken.run, workload_id=_workload(connection, taken, now), submission_id=token)
    values = insertion.columns(run) | taken.state
    values |= {"position": next_position(connection, table.c.position), "created_at": taken.created_at}
    connection.execute(insert(table).values(**values))
    metrics.append_chunks(connection, run_id, taken.chunks)
    for snapshot, created_at in taken.snapshots:
        connection.execute(insert(schema.snapshots).values(**asdict(snapshot), created_at=created_at))


def require_source(connection: Connection, run: NewRun) -> None:
    """Raise NotFound unless a child's parent is there, and Refused unless that saved what the child started from."""
    if run.parent_run_id is None:
        return
    if connection.execute(select(table.c.run_id).where(table.c.run_id == run.parent_run_id)).scalar() is None:
        raise errors.NotFound(
            f"run {run.run_id} branched from run {run.parent_run_id}, which is neither here nor among the folders",
            field="parent",
            hint=f"export {run.run_id} again, with its ancestors, and import all of what that writes",
        )
    own = schema.snapshots
    found = select(own.c.step).where(own.c.snapshot_id == run.source_snapshot_id, own.c.run_id == run.parent_run_id)
    if connection.execute(found).scalar() != run.source_step:
        raise errors.Refused(
            f"run {run.run_id} started from snapshot {(run.source_snapshot_id or '')[: fans.DIGITS]} of update "
            f"{run.source_step}, which run {run.parent_run_id} has not saved",
            field="parent",
        )


def _list_rows(connection: Connection, taken: Taken, now: str) -> Iterator[str]:
    """List the run's rows, and name them as its descriptor did where that name is free."""
    datasets.insert_rows(connection, taken.dataset, now)
    name, hash = taken.run.dataset_name, taken.run.dataset
    if name is not None and (other := datasets.name_if_free(connection, name, hash)) != hash:
        yield f"dataset {name} is {other[:12]} here; the rows of run {taken.run.run_id} are {hash[:12]}, without a name"


def _workload(connection: Connection, taken: Taken, now: str) -> str:
    """The id of the workload of that name, which is made where there is none."""
    own = schema.workloads
    found: str | None = connection.execute(select(own.c.workload_id).where(own.c.name == taken.workload)).scalar()
    if found is not None:
        return found
    free = connection.execute(select(own.c.name).where(own.c.workload_id == taken.run.workload_id)).scalar() is None
    return workloads.insert_workload(
        connection, taken.workload, now, workload_id=taken.run.workload_id if free else None
    )


def _token(connection: Connection, run: NewRun, now: str) -> tuple[str | None, list[str]]:
    """The token of the run's submission, unless it stands for another one here; and then a sentence about that.

    A child's is bound here to what it was bound to there, so that it reaches the children that there are.
    """
    token = run.submission_id
    if token is None:
        return None, []
    if run.parent_run_id is None:
        if not _taken_by_another(connection, run):
            return token, []
    else:
        bound = _bound(run)
        try:
            fans.check_token(connection, bound)
        except errors.Conflict:
            pass
        else:
            if fans.bound(connection, token) is None:
                connection.execute(insert(schema.submissions).values(**asdict(bound), created_at=now))
            return token, []
    return None, [f"submission {shown(token)} is another one here; run {run.run_id} is listed without it"]


def _bound(run: NewRun) -> NewSubmission:
    assert run.submission_id and run.parent_run_id and run.source_snapshot_id and run.restore  # noqa: PT018
    return NewSubmission(
        submission_id=run.submission_id,
        parent_run_id=run.parent_run_id,
        snapshot_id=run.source_snapshot_id,
        steps=run.steps,
        restore=run.restore,
    )


def _taken_by_another(connection: Connection, run: NewRun) -> bool:
    """Does the token of a run without a parent stand for a run here that is none of the same submission?

    One submission may start several runs, which repeat one and the same.
    """
    others = select(table.c.run_id).where(table.c.submission_id == run.submission_id)
    if run.repeats is not None:
        others = others.where(or_(table.c.repeats.is_(None), table.c.repeats != run.repeats))
    if connection.execute(others.limit(1)).scalar() is not None:
        return True
    deleted, bound = schema.deleted_runs, fans.bound(connection, run.submission_id or "")
    gone = select(deleted.c.run_id).where(deleted.c.submission_id == run.submission_id)
    return bound is not None or connection.execute(gone.limit(1)).scalar() is not None
