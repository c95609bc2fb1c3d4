"""What holds of curves, whatever was recorded: the same values come back, merged, chosen from or cut."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.catalog import new_run, points

from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.catalog import Catalog, curves
from akka_optimize.trainer.home import Home

laws = settings(deadline=None, max_examples=50)  # each commits to the disk a few times
LATE = "late"
NAMES = ("loss", "gradNorm", "tokens", "validationLoss")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    """One catalog for all examples of a law, in which a chunk is full at 150 bytes."""
    with pytest.MonkeyPatch.context() as patch, Catalog.open(Home.open(tmp_path_factory.mktemp("laws"))) as catalog:
        patch.setattr(curves, "LIMIT", 150)
        yield catalog


@st.composite
def recordings(draw: st.DrawFn) -> list[pb.MetricsChunk]:
    """What one or two attempts record: each column at all steps of a chunk, at some, or at none; one comes late."""
    chunks = []
    for attempt in range(1, draw(st.integers(1, 2)) + 1):
        last = draw(st.integers(0, 5))
        late: list[int] = []
        for _ in range(draw(st.integers(0, 5))):
            steps = last + np.cumsum(draw(st.lists(st.integers(1, 3), min_size=1, max_size=6)))
            last = int(steps[-1])
            chunk = pb.MetricsChunk(attempt=attempt, steps=steps.tolist())
            for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
                own = [step for step in steps.tolist() if draw(st.booleans())]
                values = draw(st.lists(st.floats(width=64), min_size=len(steps), max_size=len(steps)))
                if own and draw(st.booleans()):
                    chunk.columns.add(name=name, steps=own, values=values[: len(own)])
                else:
                    chunk.columns.add(name=name, values=values)
            chunks.append(chunk)
            late += steps.tolist()
            if draw(st.booleans()):
                chunks.append(_late(attempt, late, own_steps=draw(st.booleans())))
                late = []
    return chunks


def _late(attempt: int, steps: list[int], *, own_steps: bool) -> pb.MetricsChunk:
    """A column of its own, recorded after the others at steps that they have."""
    chunk = pb.MetricsChunk(attempt=attempt, steps=[] if own_steps else steps)
    chunk.columns.add(name=LATE, values=[step / 2 for step in steps], steps=steps if own_steps else [])
    return chunk


def recorded(catalog: Catalog, chunks: list[pb.MetricsChunk]) -> str:
    """A run with these chunks."""
    run_id = catalog.add_run(new_run(catalog)).run_id
    catalog.record(run_id, chunks, observed_step=1, loss=1.0)
    return run_id


@laws
@given(chunks=recordings())
def test_what_was_recorded_comes_back(shared: Catalog, chunks: list[pb.MetricsChunk]) -> None:
    """Each value returns bit for bit with its step and attempt, in order, in chunks below the limit."""
    found = list(shared.metrics(recorded(shared, chunks)))
    assert points(found) == points(chunks)
    for column in points(found).values():
        assert column == sorted(column)
    assert all(chunk.ByteSize() <= curves.LIMIT for chunk in found)


@laws
@given(chunks=recordings())
def test_merging_changes_no_value(shared: Catalog, chunks: list[pb.MetricsChunk]) -> None:
    """After a merge, and after another, the same values return; what a comparison reads stands apart."""
    run_id = recorded(shared, chunks)
    for _ in range(2):
        shared.merge_metrics(run_id)
        found = list(shared.metrics(run_id))
        assert points(found) == points(chunks)
        for chunk in found:
            curves.check(chunk)
            assert chunk.ByteSize() <= curves.LIMIT
            assert len({column.name in curves.TOGETHER for column in chunk.columns}) == 1


@laws
@given(chunks=recordings(), columns=st.sets(st.sampled_from((*NAMES, LATE, "unknown"))), merged=st.booleans())
def test_columns_are_chosen(shared: Catalog, chunks: list[pb.MetricsChunk], columns: set[str], merged: bool) -> None:
    """Only the named columns return, whole; naming none means all, and one that was never recorded is absent."""
    run_id = recorded(shared, chunks)
    if merged:
        shared.merge_metrics(run_id)
    expected = {key: column for key, column in points(chunks).items() if not columns or key[0] in columns}
    assert points(shared.metrics(run_id, columns)) == expected


@laws
@given(
    chunks=recordings(),
    columns=st.sets(st.sampled_from((*NAMES, LATE))),
    last_steps=st.integers(1, 40),
    merged=st.booleans(),
)
def test_the_newest_steps(
    shared: Catalog, chunks: list[pb.MetricsChunk], columns: set[str], last_steps: int, merged: bool
) -> None:
    """Of the chosen columns, exactly what stands at the newest steps returns."""
    run_id = recorded(shared, chunks)
    if merged:
        shared.merge_metrics(run_id)
    chosen = {key: column for key, column in points(chunks).items() if not columns or key[0] in columns}
    newest = sorted({step for column in chosen.values() for step, _ in column})[-last_steps:]
    expected = {key: [point for point in column if point[0] in newest] for key, column in chosen.items()}
    found = points(shared.metrics(run_id, columns, last_steps))
    assert found == {key: column for key, column in expected.items() if column}
