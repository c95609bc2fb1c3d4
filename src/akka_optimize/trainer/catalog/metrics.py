"""Curves, kept as the very chunks that the wire carries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from google.protobuf.message import DecodeError
from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.catalog import curves, damage, schema
from akka_optimize.trainer.catalog.base import Part, next_position
from akka_optimize.trainer.catalog.runs import require_run

table = schema.metric_chunks
IN_ORDER = (table.c.attempt, table.c.position)


class Metrics(Part):
    """The catalog's curves."""

    def record(
        self,
        run_id: str,
        chunks: Sequence[pb.MetricsChunk],
        *,
        observed_step: int,
        loss: float | None,
        validation_loss: float | None = None,
    ) -> None:
        """Keep chunks and how far the run is; a `validation_loss` of None leaves the last one standing.

        Chunks of one attempt come in step order. Raises NotFound (run) and Invalid (a chunk that contradicts itself).
        """
        for chunk in chunks:
            curves.check(chunk)
        progress = {"observed_step": observed_step, "loss": loss}
        if validation_loss is not None:
            progress["validation_loss"] = validation_loss
        with self._database.write() as connection:
            require_run(connection, run_id)
            append_chunks(connection, run_id, (part for chunk in chunks for part in curves.split(chunk)))
            runs = schema.runs
            connection.execute(update(runs).where(runs.c.run_id == run_id).values(**progress))

    def metrics(self, run_id: str, columns: Collection[str] = (), last_steps: int = 0) -> Iterator[pb.MetricsChunk]:
        """A run's curves, each column in attempt and step order, in chunks below 1 MiB; no `columns` means all.

        With `last_steps`, only what was recorded at the newest that many of the steps that hold a chosen column, by
        whichever attempt. Raises NotFound (run) and Invalid (last_steps), here and not at the first chunk.
        """
        if last_steps < 0:
            raise errors.Invalid(f"a number of steps is not negative, and {last_steps} is", field="lastSteps")
        with self._database.read() as connection:
            require_run(connection, run_id)
            condition = _holding(connection, run_id, columns)
            cut = _cut(connection, run_id, condition, columns, last_steps) if last_steps else None
            if cut is not None:
                condition.append(table.c.last_step >= cut)
            stored = connection.execute(select(table.c.chunk).where(*condition).order_by(*IN_ORDER)).scalars().all()
        return _chosen(run_id, stored, columns, cut)

    def merge_metrics(self, run_id: str) -> None:
        """Turn the many chunks of a run into few large ones, loss and gradient norm apart from the rest.

        Raises NotFound (run).
        """
        of_run = table.c.run_id == run_id
        with self._database.write() as connection:
            require_run(connection, run_id)
            rows = connection.execute(select(table.c.attempt, table.c.chunk).where(of_run).order_by(*IN_ORDER)).all()
            connection.execute(delete(table).where(of_run))
            for _, group in groupby(rows, key=lambda row: row.attempt):
                chunks = [_read(run_id, row.chunk, ()) for row in group]
                others = {column.name for chunk in chunks for column in chunk.columns} - curves.TOGETHER
                for columns in (curves.TOGETHER, others):
                    append_chunks(connection, run_id, curves.join(chunks, columns))


def cut(connection: Connection, run_id: str, step: int) -> int:
    """Forget what a run recorded after the update `step`; how many steps that were. In an open writing transaction."""
    late = select(*table.primary_key, table.c.chunk).where(table.c.run_id == run_id, table.c.last_step > step)
    gone: set[int] = set()
    for *key, data in connection.execute(late).all():
        chunk = _read(run_id, data, ())
        gone |= curves.steps_after(chunk, step)
        same = [column == value for column, value in zip(table.primary_key, key, strict=True)]
        kept = curves.between(chunk, 0, step + 1)
        if kept.columns:
            values = {"chunk": kept.SerializeToString(), "last_step": curves.last_step(kept), "names": _names(kept)}
            connection.execute(update(table).where(*same).values(**values))
        else:
            connection.execute(delete(table).where(*same))
    return len(gone)


def newest_value(connection: Connection, run_id: str, name: str) -> float | None:
    """The value that a run recorded last in a column; None where it has none."""
    condition = _holding(connection, run_id, [name])
    newest = select(table.c.chunk).where(*condition).order_by(table.c.attempt.desc(), table.c.position.desc())
    for data in connection.execute(newest).scalars():
        for column in _read(run_id, data, [name]).columns:
            if column.values:
                return column.values[-1]
    return None


def append_chunks(connection: Connection, run_id: str, chunks: Iterable[pb.MetricsChunk]) -> None:
    """Put chunks, each below the limit, after those that the run's attempt has; in an open writing transaction."""
    for chunk in chunks:
        if not chunk.columns:
            continue
        of_attempt = (table.c.run_id == run_id, table.c.attempt == chunk.attempt)
        connection.execute(
            insert(table).values(
                run_id=run_id,
                attempt=chunk.attempt,
                position=next_position(connection, table.c.position, *of_attempt),
                names=_names(chunk),
                last_step=curves.last_step(chunk),
                chunk=chunk.SerializeToString(),
            )
        )


def _names(chunk: pb.MetricsChunk) -> str:
    return " ".join(column.name for column in chunk.columns)


def _holding(connection: Connection, run_id: str, columns: Collection[str]) -> list[ColumnElement[bool]]:
    """The condition for a run's chunks that hold one of the columns."""
    of_run = table.c.run_id == run_id
    if not columns:
        return [of_run]
    known = connection.execute(select(table.c.names).where(of_run).distinct()).scalars()
    return [of_run, table.c.names.in_([names for names in known if not set(columns).isdisjoint(names.split(" "))])]


def _cut(
    connection: Connection, run_id: str, condition: list[ColumnElement[bool]], columns: Collection[str], last_steps: int
) -> int | None:
    """The oldest of the newest `last_steps` steps; None when there are not so many."""
    newest: set[int] = set()
    keys = connection.execute(
        select(*table.primary_key, table.c.last_step).where(*condition).order_by(table.c.last_step.desc())
    )
    for *key, last_step in keys.all():
        if len(newest) == last_steps and last_step <= min(newest):
            break
        same = [column == value for column, value in zip(table.primary_key, key, strict=True)]
        data = connection.execute(select(table.c.chunk).where(*same)).scalar_one()
        newest |= curves.newest(_read(run_id, data, columns), last_steps)
        newest = set(sorted(newest)[-last_steps:])
    return min(newest) if len(newest) == last_steps else None


def _chosen(
    run_id: str, stored: Sequence[bytes], columns: Collection[str], cut: int | None
) -> Iterator[pb.MetricsChunk]:
    for data in stored:
        chunk = _read(run_id, data, columns)
        if cut is not None and curves.first_step(chunk) < cut:
            chunk = curves.between(chunk, cut)
        if chunk.columns:
            yield chunk


def _read(run_id: str, data: bytes, columns: Collection[str]) -> pb.MetricsChunk:
    """A stored chunk, with these columns alone when any is named. Raises Refused when it is damaged."""
    try:
        chunk = pb.MetricsChunk.FromString(data)
    except (DecodeError, TypeError) as error:
        raise damage.of_curves(run_id) from error
    if any(len(column.values) != len(column.steps or chunk.steps) for column in chunk.columns):
        raise damage.of_curves(run_id)
    return curves.choose(chunk, columns) if columns else chunk
