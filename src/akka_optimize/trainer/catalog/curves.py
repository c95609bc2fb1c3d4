"""Metric chunks as messages: checking, joining, splitting and choosing from them.

A chunk's `steps` ascend. A column has a value for each of them, or brings ascending `steps` of its own. Numbers are
copied by the protobuf library, never one by one here, except where a single chunk is cut.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb

LIMIT = 2**20 - 2**12  # bytes in a stored chunk: below 1 MiB, with room for what frames it
TOGETHER = frozenset({"loss", "gradNorm"})  # what a comparison reads, kept apart from the rest


def check(chunk: pb.MetricsChunk) -> None:
    """Raise Invalid unless steps ascend and every value has its step."""
    _check_steps(chunk.steps, "steps")
    names = [column.name for column in chunk.columns]
    if len(set(names)) != len(names) or not all(name and name.isalnum() for name in names):
        raise errors.Invalid(f"the columns of a chunk are {names}, and must have names, each once", field="columns")
    for column in chunk.columns:
        _check_steps(column.steps, f"{column.name}.steps")
        if len(column.values) != len(column.steps or chunk.steps):
            raise errors.Invalid(
                f"column {column.name} has {len(column.values)} values for {len(column.steps or chunk.steps)} steps",
                field=column.name,
            )


def _check_steps(steps: Sequence[int], field: str) -> None:
    if any(a >= b for a, b in pairwise(steps)):
        raise errors.Invalid("the steps of a chunk must ascend", field=field)


def first_step(chunk: pb.MetricsChunk) -> int:
    """The first step at which a column has a value; 0 when none has."""
    return min((own[0] for own in _all_steps(chunk)), default=0)


def last_step(chunk: pb.MetricsChunk) -> int:
    """The last step at which a column has a value; 0 when none has."""
    return max((own[-1] for own in _all_steps(chunk)), default=0)


def _all_steps(chunk: pb.MetricsChunk) -> Iterator[Sequence[int]]:
    return (column.steps or chunk.steps for column in chunk.columns if column.values)


def newest(chunk: pb.MetricsChunk, count: int) -> set[int]:
    """The last `count`, or more, of the steps at which a column has a value."""
    found: set[int] = set()
    for column in chunk.columns:
        found.update((column.steps or chunk.steps)[-count:])
    return found


def steps_after(chunk: pb.MetricsChunk, step: int) -> set[int]:
    """The steps after `step` at which a column has a value."""
    found: set[int] = set()
    for own in _all_steps(chunk):
        found.update(own[bisect_right(own, step) :])
    return found


def choose(chunk: pb.MetricsChunk, columns: Collection[str]) -> pb.MetricsChunk:
    """The chunk with these columns alone."""
    if all(column.name in columns for column in chunk.columns):
        return chunk
    kept = [column for column in chunk.columns if column.name in columns]
    chosen = pb.MetricsChunk(attempt=chunk.attempt, columns=kept)
    if any(not column.steps for column in kept):
        chosen.steps.MergeFrom(chunk.steps)
    return chosen


def between(chunk: pb.MetricsChunk, first: int, end: int | None = None) -> pb.MetricsChunk:
    """The part of the chunk at steps `first` <= step < `end`."""
    dense = _slice(chunk.steps, first, end)
    part = pb.MetricsChunk(attempt=chunk.attempt, steps=chunk.steps[dense])
    for column in chunk.columns:
        kept = _slice(column.steps, first, end) if column.steps else dense
        values = column.values[kept]
        if values:
            part.columns.add(name=column.name, values=values, steps=column.steps[kept] if column.steps else ())
    return part


def _slice(steps: Sequence[int], first: int, end: int | None) -> slice:
    return slice(bisect_left(steps, first), None if end is None else bisect_left(steps, end))


def split(chunk: pb.MetricsChunk) -> Iterator[pb.MetricsChunk]:
    """The chunk in parts below the limit, in step order."""
    first, last = first_step(chunk), last_step(chunk)
    if first == last or chunk.ByteSize() <= LIMIT:
        yield chunk
    else:
        middle = (first + last + 1) // 2
        yield from split(between(chunk, first, middle))
        yield from split(between(chunk, middle))


def join(chunks: Iterable[pb.MetricsChunk], columns: Collection[str]) -> Iterator[pb.MetricsChunk]:
    """One attempt's chunks, by first step, as few large ones with these columns alone."""
    whole = pb.MetricsChunk()
    size = 0
    for chunk in chunks:
        part = choose(chunk, columns)
        if not part.columns:
            continue
        added = part.ByteSize()
        if size and (size + added > LIMIT or _repeats(whole, part)):
            yield from split(whole)
            whole, size = pb.MetricsChunk(), 0
        _append(whole, part)
        size += added
    if size:
        yield from split(whole)


def _repeats(whole: pb.MetricsChunk, part: pb.MetricsChunk) -> bool:
    """Has `whole` a value of one of the columns at or after the first one of `part`?"""
    last = {column.name: (column.steps or whole.steps)[-1] for column in whole.columns if column.values}
    return any(last.get(column.name, -1) >= (column.steps or part.steps)[0] for column in part.columns if column.values)


def _append(whole: pb.MetricsChunk, part: pb.MetricsChunk) -> None:
    """Add later values; a column that is not at every step of both gets steps of its own."""
    whole.attempt = part.attempt
    follows = not whole.steps or not part.steps or whole.steps[-1] < part.steps[0]
    known = {column.name: column for column in whole.columns}
    added = {column.name: column for column in part.columns}
    for name in [*known, *(name for name in added if name not in known)]:
        into = known.get(name) or whole.columns.add(name=name)
        later = added.get(name, pb.MetricsColumn())
        if follows and _dense(into, whole.steps) and _dense(later, part.steps):
            into.values.MergeFrom(later.values)
        elif later.values or follows:
            if into.values and not into.steps:
                into.steps.MergeFrom(whole.steps)
            if later.values:
                into.steps.MergeFrom(later.steps or part.steps)
            into.values.MergeFrom(later.values)
    if follows:
        whole.steps.MergeFrom(part.steps)


def _dense(column: pb.MetricsColumn, steps: Sequence[int]) -> bool:
    """Does the column have a value for each of these steps, and no steps of its own?"""
    return not column.steps and len(column.values) == len(steps)
