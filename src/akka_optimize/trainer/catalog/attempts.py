"""Attempts at a run: claimed, asked to stop or to pause, and made again from where the run can go on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select, update

from akka_optimize import errors
from akka_optimize.records import TERMINAL_PHASES, Pause
from akka_optimize.trainer.catalog import metrics, references, runs, schema, snapshots
from akka_optimize.trainer.catalog.base import Part

if TYPE_CHECKING:
    from akka_optimize.records import Run, Snapshot

table = runs.table
CHECKPOINTS = ("save", "latest")


@dataclass(frozen=True, slots=True)
class Requests:
    """What a run's worker was asked for: to give up, or to pause at a checkpoint ("save" or "latest")."""

    cancel: bool
    pause: str | None


class Attempts(Part):
    """The catalog's attempts at runs."""

    def claim(self) -> Run | None:
        """Take the oldest queued run into PREPARING as a new attempt; None when none waits. One caller gets it.

        From the second attempt on, the run's curves end where it will go on from.
        """
        with self._database.write() as connection:
            oldest = select(table.c.run_id).where(table.c.phase == "QUEUED").order_by(table.c.position).limit(1)
            run_id = connection.execute(oldest).scalar()
            if run_id is None:
                return None
            now = self._now()
            runs.move(
                connection,
                run_id,
                "PREPARING",
                attempt=table.c.attempt + 1,
                started_at=func.coalesce(table.c.started_at, now),
                cancel_requested=False,
                pause_requested=None,
            )
            run = runs.run_of(connection, run_id)
            if run.attempt > 1:
                _go_back(connection, run, now)
                run = runs.run_of(connection, run_id)
            return run

    def requests(self, run_id: str) -> Requests:
        """What the run's worker was asked for since it took the run. Raises NotFound."""
        columns = (table.c.cancel_requested, table.c.pause_requested)
        with self._database.read() as connection:
            row = connection.execute(select(*columns).where(table.c.run_id == run_id)).one_or_none()
        if row is None:
            raise runs.unknown(run_id)
        return Requests(row.cancel_requested, row.pause_requested)

    def restore_point(self, run_id: str) -> Snapshot | None:
        """The newest snapshot whose training state is kept; None when the run can only begin anew."""
        with self._database.read() as connection:
            return _restore_point(connection, run_id)

    def request_pause(self, reference: str, checkpoint: str) -> Run:
        """Pause a run that waits at once; ask the worker of one in hand, which may take until its next update.

        Raises Invalid (checkpoint), Refused (it has ended, is about to, or is paused; it has trained and "latest" has
        nothing to fall back to), NotFound, Ambiguous.
        """
        if checkpoint not in CHECKPOINTS:
            raise errors.Invalid(f"a checkpoint is {' or '.join(CHECKPOINTS)}", field="checkpoint")
        with self._database.write() as connection:
            run = runs.run_of(connection, references.find(connection, runs.KIND, reference))
            _require_pausable(connection, run)
            point = _restore_point(connection, run.run_id)
            if checkpoint == "latest" and run.observed_step and point is None:
                raise errors.Refused(
                    f"run {run.run_id} has made {run.observed_step} updates and saved nothing that it could go on from",
                    field="checkpoint",
                    hint="--checkpoint save saves first",
                )
            waits = run.phase == "QUEUED"
            pause = Pause(checkpoint, self._now(), None if point is None else point.step, None, waits)
            if waits:
                runs.end(connection, run, "PAUSED", self._now(), pause=asdict(pause))
            else:
                wanted = {"pause_requested": checkpoint, "pause": asdict(pause)}
                connection.execute(update(table).where(table.c.run_id == run.run_id).values(**wanted))
            return runs.run_of(connection, run.run_id)

    def requeue(self, run_id: str) -> Run:
        """Queue a run for another attempt. Raises Refused (it is not paused, and not one that failed and may go on)."""
        with self._database.write() as connection:
            run = runs.run_of(connection, run_id)
            require_resumable(run)
            runs.move(
                connection,
                run_id,
                "QUEUED",
                failure_code=None,
                failure_reason=None,
                resumable=False,
                ended_at=None,
                pause=None,
                pause_requested=None,
                cancel_requested=False,
            )
            return runs.run_of(connection, run_id)

    def add_event(self, run_id: str, kind: str, attempt: int, **told: Any) -> None:
        """Put down something that happened in an attempt, now. Raises NotFound."""
        with self._database.write() as connection:
            event = {"at": self._now(), "kind": kind, "attempt": attempt, **told}
            runs.append_event(connection, run_id, event)


def require_resumable(run: Run) -> None:
    """Raise Refused, with what to do instead, unless another attempt at the run may be made."""
    if run.phase == "PAUSED" or (run.phase == "FAILED" and run.resumable):
        return
    again = f"`akka-optimize training runs repeat {run.run_id}` starts its plan again, from the beginning"
    if run.phase == "COMPLETED":
        raise errors.Refused(
            f"run {run.run_id} is COMPLETED: all {run.steps} updates are made",
            field="run",
            hint=f"{again}; `continue` goes on from its last snapshot as a new run",
        )
    if run.phase == "CANCELLED":
        raise errors.Refused(f"run {run.run_id} is CANCELLED, which is final", field="run", hint=again)
    if run.phase == "FAILED":
        raise errors.Refused(
            f"run {run.run_id} is FAILED with {run.failure_code}, and would fail again", field="run", hint=again
        )
    raise errors.Refused(f"run {run.run_id} is {run.phase} already", field="run", hint="nothing has to be resumed")


def _require_pausable(connection: Connection, run: Run) -> None:
    if run.phase in TERMINAL_PHASES:
        raise errors.Refused(f"run {run.run_id} is {run.phase} and cannot be paused", field="run")
    if connection.execute(select(table.c.cancel_requested).where(table.c.run_id == run.run_id)).scalar_one():
        raise errors.Refused(f"run {run.run_id} was asked to stop, and is about to be CANCELLED", field="run")
    if run.phase == "PAUSED":
        raise errors.Refused(
            f"run {run.run_id} is PAUSED already",
            field="run",
            hint=f"`akka-optimize training runs resume {run.run_id}` goes on with it",
        )


def _restore_point(connection: Connection, run_id: str) -> Snapshot | None:
    own = schema.snapshots
    left = select(own).where(own.c.run_id == run_id, own.c.status != snapshots.SWEPT)
    for row in connection.execute(left.order_by(own.c.attempt.desc(), own.c.step.desc())):
        snapshot = snapshots.record(row, None)
        if any(artifact.kind == "trainingState" and not artifact.swept for artifact in snapshot.artifacts):
            return snapshot
    return None


def _go_back(connection: Connection, run: Run, now: str) -> None:
    """Let the run stand where its newest training state does; what was recorded after that is counted, and gone."""
    point = _restore_point(connection, run.run_id)
    step = 0 if point is None else point.step
    replaced = metrics.cut(connection, run.run_id, step)
    values = {
        "observed_step": step,
        "loss": metrics.newest_value(connection, run.run_id, "loss"),
        "validation_loss": metrics.newest_value(connection, run.run_id, "validationLoss"),
        "replaced_steps": table.c.replaced_steps + replaced,
    }
    connection.execute(update(table).where(table.c.run_id == run.run_id).values(**values))
    told = {"at": now, "kind": "resumed", "attempt": run.attempt, "restoredStep": step, "replacedSteps": replaced}
    runs.append_event(connection, run.run_id, told)
