"""Attempts at a run: each one is made from where the run can go on, and the curves end there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select
from support.attempts import again, claimed, saved
from support.catalog import Points, chunked, make_run, points

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.catalog import Catalog, curves, metrics, schema

NAMES = ("loss", "gradNorm", "validationLoss", "tokens")


@st.composite
def recordings(draw: st.DrawFn) -> list[pb.MetricsChunk]:
    """What one attempt records: columns at all steps of a chunk, at some, or at none, in chunks of any size."""
    chunks, last = [], 0
    for _ in range(draw(st.integers(0, 6))):
        steps = (last + np.cumsum(draw(st.lists(st.integers(1, 3), min_size=1, max_size=6)))).tolist()
        last = steps[-1]
        chunk = pb.MetricsChunk(attempt=1, steps=steps)
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
            values = draw(st.lists(st.floats(width=64), min_size=len(steps), max_size=len(steps)))
            own = [step for step in steps if draw(st.booleans())]
            sparse = bool(own) and draw(st.booleans())
            chunk.columns.add(name=name, values=values[: len(own)] if sparse else values, steps=own if sparse else [])
        chunks.append(chunk)
    return chunks


def kept(found: Points, step: int) -> Points:
    """The definition: the values of every column at or before `step`."""
    cut = {key: [point for point in column if point[0] <= step] for key, column in found.items()}
    return {key: column for key, column in cut.items() if column}


def last_value(found: Points, name: str) -> bytes | None:
    """The definition: the bits of the last value of a column."""
    column = found.get((name, 1))
    return column[-1][1] if column else None


def bits(value: float | None) -> bytes | None:
    """What `last_value` tells of a value."""
    return None if value is None else np.float64(value).tobytes()


@settings(deadline=None)
@given(chunks=recordings(), step=st.integers(0, 30), merged=st.booleans())
def test_cutting_is_a_filter(chunks: list[pb.MetricsChunk], step: int, merged: bool) -> None:
    """Exactly the values at or before the step are left, in sound chunks; the other steps are counted."""
    whole = points(chunks)
    with create_engine("sqlite://").begin() as connection:
        schema.metadata.create_all(connection)
        metrics.append_chunks(connection, "other", chunks)
        joined = [
            part for columns in (curves.TOGETHER, set(NAMES) - curves.TOGETHER) for part in curves.join(chunks, columns)
        ]
        metrics.append_chunks(connection, "run", joined if merged else chunks)
        gone = metrics.cut(connection, "run", step)
        stored = select(metrics.table).where(metrics.table.c.run_id == "run").order_by(metrics.table.c.position)
        rows = connection.execute(stored).all()
        newest = {name: metrics.newest_value(connection, "run", name) for name in NAMES}
        others = connection.execute(select(metrics.table.c.chunk).where(metrics.table.c.run_id == "other")).scalars()
        assert points(map(pb.MetricsChunk.FromString, others)) == whole
    left = kept(whole, step)
    found = [pb.MetricsChunk.FromString(row.chunk) for row in rows]
    assert points(found) == left
    for row, chunk in zip(rows, found, strict=True):
        curves.check(chunk)
        assert (row.last_step, row.names.split()) == (curves.last_step(chunk), [each.name for each in chunk.columns])
    assert gone == len({at for column in whole.values() for at, _ in column if at > step})
    assert {name: bits(value) for name, value in newest.items()} == {name: last_value(left, name) for name in NAMES}


@pytest.mark.parametrize("merged", [False, True])
def test_a_curve_has_each_step_once(catalog: Catalog, merged: bool) -> None:
    """However often a run falls back, each step is there once, from the attempt whose state led on from there."""
    run, owner, replaced = claimed(catalog), dict.fromkeys(range(1, 21), 1), 0
    catalog.record(run.run_id, chunked(1, range(1, 21), {"loss": [1.0] * 20}, size=3), observed_step=20, loss=1.0)
    for save, reached in ((None, 9), (4, 15), (None, 30), (12, 12), (12, 13)):
        if save is not None:
            saved(catalog, run, save)
        if merged:
            catalog.merge_metrics(run.run_id)
        run = again(catalog, run)
        start = run.observed_step
        replaced += sum(step > start for step in owner)
        owner = {step: each for step, each in owner.items() if step <= start}
        own = range(start + 1, reached + 1)
        owner |= dict.fromkeys(own, run.attempt)
        new = chunked(run.attempt, own, {"loss": [float(run.attempt)] * len(own)}, size=4)
        catalog.record(run.run_id, new, observed_step=reached, loss=float(run.attempt))
    found = points(catalog.metrics(run.run_id))
    assert {step: attempt for (_, attempt), column in found.items() for step, _ in column} == owner
    assert sum(map(len, found.values())) == len(owner)
    told = catalog.run(run.run_id)
    assert told.replaced_steps == replaced
    assert sum(event["replacedSteps"] for event in told.events if event["kind"] == "resumed") == replaced


def test_the_newest_value_is_the_one_recorded_last(catalog: Catalog) -> None:
    """A column that is rarer than the others ends in its own last value, however far the others reach."""
    run = claimed(catalog)
    sparse = chunked(1, [9], {"loss": [3.0]})
    sparse[0].columns.add(name="validationLoss", steps=[2], values=[7.0])
    catalog.record(run.run_id, [*sparse, *chunked(1, [5], {"validationLoss": [6.0]})], observed_step=9, loss=3.0)
    saved(catalog, run, 9)
    assert again(catalog, run).validation_loss == 6.0


def test_what_is_said_of_a_new_attempt(catalog: Catalog) -> None:
    """How the last one ended and where this one goes on, in order, each with its time; curves of others stay."""
    other = make_run(catalog, loss=[1.0, 2.0])
    run = claimed(catalog)
    catalog.record(run.run_id, chunked(1, range(1, 8), {"loss": [math.nan] * 7}), observed_step=7, loss=math.nan)
    saved(catalog, run, 5)
    found = again(catalog, run)
    ended, resumed = found.events
    assert {**ended, "at": None} == {
        "at": None, "kind": "ended", "attempt": 1, "phase": "FAILED", "code": "WORKER_LOST", "reason": None, "step": 7
    }  # fmt: skip
    assert {**resumed, "at": None} == {
        "at": None, "kind": "resumed", "attempt": 2, "restoredStep": 5, "replacedSteps": 2
    }  # fmt: skip
    assert all(event["at"].startswith("2026-01-01T00:0") for event in found.events)
    assert found.loss is not None
    assert math.isnan(found.loss)
    assert len(points(catalog.metrics(other.run_id))["loss", 1]) == 2


def test_a_first_attempt_is_no_return(catalog: Catalog) -> None:
    """Nothing is cut, counted or told when a run is claimed for the first time."""
    run = claimed(catalog)
    assert (run.attempt, run.replaced_steps, run.events) == (1, 0, ())


class TestRestorePoint:
    """Where a run goes on."""

    def test_a_run_without_saves_begins_anew(self, catalog: Catalog) -> None:
        """There is none."""
        run = claimed(catalog)
        assert catalog.restore_point(run.run_id) is None
        assert catalog.restore_point("0" * 16) is None

    def test_the_newest_that_holds_a_training_state(self, catalog: Catalog) -> None:
        """Not an older one, not one of which only the weights are left, and no other run's."""
        run = claimed(catalog)
        saved(catalog, run, 5)
        chosen = saved(catalog, run, 10)
        saved(catalog, run, 15, kinds=("weights",))
        saved(catalog, claimed(catalog), 20)
        assert catalog.restore_point(run.run_id) == chosen

    def test_a_later_attempts_is_newer(self, catalog: Catalog) -> None:
        """What the attempt saved that led to the curve as it is."""
        run = claimed(catalog)
        saved(catalog, run, 5)
        second = again(catalog, run)
        chosen = saved(catalog, second, 7)
        assert catalog.restore_point(run.run_id) == chosen

    def test_a_save_beyond_it_keeps_its_row(self, catalog: Catalog) -> None:
        """Weights that a dead attempt saved further on stay listed as its own, and the same step is saved again."""
        run = claimed(catalog)
        saved(catalog, run, 5, loss=3.0)
        saved(catalog, run, 10, loss=2.0, kinds=("weights",))
        second = again(catalog, run)
        assert second.observed_step == 5
        newest = saved(catalog, second, 10, loss=2.5)
        listed = [(each.attempt, each.step) for each in catalog.snapshots(run.run_id).items]
        assert listed == [(2, 10), (1, 10), (1, 5)]
        found = catalog.run(run.run_id)
        assert (found.last_snapshot_id, found.saved_step) == (newest.snapshot_id, 10)
        assert (found.best_step, found.best_validation_loss) == (10, 2.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda catalog: catalog.requests("0" * 16),
        lambda catalog: catalog.request_pause("0" * 16, "save"),
        lambda catalog: catalog.requeue("0" * 16),
        lambda catalog: catalog.add_event("0" * 16, "clock", 1),
    ],
    ids=["requests", "request-pause", "requeue", "add-event"],
)
def test_an_unknown_run_is_not_found(catalog: Catalog, use: Any) -> None:
    """Whatever is asked of it."""
    with pytest.raises(errors.NotFound, match="0" * 16):
        use(catalog)


def test_an_event_is_put_down_with_its_time(catalog: Catalog) -> None:
    """After those that are there, with what is told of it."""
    run = make_run(catalog, phase="TRAINING")
    for seconds in (6.5, -7.0):
        catalog.add_event(run.run_id, "clock", 1, step=3, seconds=seconds)
    told = catalog.run(run.run_id).events
    assert [(event["kind"], event["attempt"], event["step"], event["seconds"]) for event in told] == [
        ("clock", 1, 3, 6.5),
        ("clock", 1, 3, -7.0),
    ]
    assert all(event["at"].startswith("2026-01-01T00:0") for event in told)
