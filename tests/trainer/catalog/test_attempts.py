"""Attempts at a run: asked to pause, queued again, and made again from where the run can go on."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select
from support.catalog import Points, chunked, make_run, new_run, points

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.records import Artifact, Pause, Run, Snapshot
from akka_optimize.trainer.catalog import Catalog, NewSnapshot, curves, metrics, schema
from akka_optimize.trainer.catalog.attempts import Requests
from akka_optimize.trainer.home import Home

NAMES = ("loss", "gradNorm", "validationLoss", "tokens")


def saved(
    catalog: Catalog, run: Run, step: int, *, loss: float | None = None, kinds: tuple[str, ...] = ("trainingState",)
) -> Snapshot:
    """A snapshot of the run's attempt that only the catalog knows, of which these kinds are kept."""
    digest = f"{run.attempt:02}{step:062}"
    found = tuple(Artifact(kind, digest, 100, swept=kind not in kinds) for kind in ("weights", "trainingState"))
    new = NewSnapshot(
        snapshot_id=f"{run.run_id}{digest[16:]}{run.attempt:016}",
        run_id=run.run_id,
        attempt=run.attempt,
        step=step,
        epoch=1.0,
        artifacts=found,
        validation_loss=loss,
    )
    return catalog.add_snapshot(new)


def claimed(catalog: Catalog) -> Run:
    """A run in its first attempt."""
    catalog.add_run(new_run(catalog, steps=100))
    run = catalog.claim()
    assert run is not None
    return run


def fell(catalog: Catalog, run: Run) -> None:
    """The run's worker died."""
    catalog.set_phase(
        run.run_id, "FAILED", only_from=("PREPARING", "TRAINING"), failure_code="WORKER_LOST", resumable=True
    )


def again(catalog: Catalog, run: Run) -> Run:
    """The run, after its worker died, in its next attempt."""
    fell(catalog, run)
    catalog.requeue(run.run_id)
    found = catalog.claim()
    assert found is not None
    assert found.run_id == run.run_id
    return found


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


class TestPausing:
    """What is asked of a run, and what of it a worker is told."""

    @pytest.mark.parametrize("checkpoint", ["save", "latest"])
    def test_a_run_that_waits_pauses_at_once(self, catalog: Catalog, checkpoint: str) -> None:
        """It is not claimed, has not ended, holds nothing, and the end of its waiting is on record."""
        run_id = catalog.add_run(new_run(catalog)).run_id
        run = catalog.request_pause(run_id[:9], checkpoint)
        assert (run.phase, run.ended_at) == ("PAUSED", None)
        assert run.pause is not None
        assert (run.pause.checkpoint, run.pause.saved_step, run.pause.resources_released) == (checkpoint, None, True)
        assert [(event["kind"], event["phase"]) for event in run.events] == [("ended", "PAUSED")]
        assert catalog.claim() is None
        assert catalog.requests(run_id) == Requests(cancel=False, pause=None)

    @pytest.mark.parametrize("phase", ["PREPARING", "TRAINING"])
    def test_a_worker_is_asked(self, catalog: Catalog, phase: str) -> None:
        """The run says what was asked, goes on, and its worker finds the request."""
        run = make_run(catalog, phase=phase)
        asked = catalog.request_pause(run.run_id, "save")
        assert (asked.phase, catalog.requests(run.run_id)) == (phase, Requests(cancel=False, pause="save"))
        assert asked.pause is not None
        assert not asked.pause.resources_released

    def test_the_last_request_counts(self, catalog: Catalog) -> None:
        """Whoever asked for a save may change their mind."""
        run = make_run(catalog, phase="PREPARING")
        for checkpoint in ("save", "latest", "save"):
            catalog.request_pause(run.run_id, checkpoint)
            assert catalog.requests(run.run_id).pause == checkpoint

    def test_both_requests_are_seen_at_once(self, catalog: Catalog) -> None:
        """A run may be cancelled while it is to pause, and then never pauses."""
        run = make_run(catalog, phase="TRAINING")
        catalog.request_pause(run.run_id, "save")
        catalog.request_cancel(run.run_id)
        assert catalog.requests(run.run_id) == Requests(cancel=True, pause="save")
        with pytest.raises(errors.Refused, match="about to be CANCELLED"):
            catalog.request_pause(run.run_id, "save")

    @pytest.mark.parametrize("checkpoint", ["", "newest", "SAVE", "saved"])
    def test_another_checkpoint_is_no_request(self, catalog: Catalog, checkpoint: str) -> None:
        """It is named as the field at fault, and nothing is asked."""
        run = make_run(catalog, phase="TRAINING")
        with pytest.raises(errors.Invalid, match="save or latest") as caught:
            catalog.request_pause(run.run_id, checkpoint)
        assert caught.value.field == "checkpoint"
        assert catalog.run(run.run_id) == run

    @pytest.mark.parametrize("phase", ["COMPLETED", "FAILED", "CANCELLED", "PAUSED"])
    @pytest.mark.parametrize("checkpoint", ["save", "latest"])
    def test_what_stands_still_cannot_be_paused(self, catalog: Catalog, phase: str, checkpoint: str) -> None:
        """The message says how the run is; nothing changes."""
        run = make_run(catalog, phase=phase)
        with pytest.raises(errors.Refused, match=f"{run.run_id} is {phase}") as caught:
            catalog.request_pause(run.run_id, checkpoint)
        assert catalog.run(run.run_id) == run
        assert ("resume" in (caught.value.hint or "")) == (phase == "PAUSED")

    def test_latest_needs_something_to_fall_back_to(self, catalog: Catalog) -> None:
        """Once it has trained; before, the beginning is as good, and after a save there is that."""
        run = claimed(catalog)
        catalog.request_pause(run.run_id, "latest")
        catalog.record(run.run_id, chunked(1, [1], {"loss": [1.0]}), observed_step=1, loss=1.0)
        with pytest.raises(errors.Refused, match="1 updates and saved nothing") as caught:
            catalog.request_pause(run.run_id, "latest")
        assert (caught.value.field, "save" in (caught.value.hint or "")) == ("checkpoint", True)
        saved(catalog, run, 1, kinds=("weights",))
        with pytest.raises(errors.Refused, match="saved nothing that"):
            catalog.request_pause(run.run_id, "latest")
        saved(catalog, run, 2)
        pause = catalog.request_pause(run.run_id, "latest").pause
        assert pause is not None
        assert pause.saved_step == 2

    def test_how_a_worker_tells_of_a_pause(self, catalog: Catalog) -> None:
        """The run stands still, has not ended, and says what the worker says; the request is settled."""
        run = make_run(catalog, phase="TRAINING")
        catalog.request_pause(run.run_id, "save")
        told = Pause("save", "2026-01-01T00:00:00Z", 7, "the save failed", True)
        paused = catalog.set_phase(run.run_id, "PAUSED", only_from=("TRAINING",), pause=told)
        assert paused is not None
        assert (paused.phase, paused.ended_at, paused.pause) == ("PAUSED", None, told)
        assert catalog.requests(run.run_id).pause is None

    def test_by_default_the_pause_is_what_was_asked_for(self, catalog: Catalog) -> None:
        """Whoever finds a run whose worker is gone knows no more than the request, and that nothing is held."""
        run = make_run(catalog, phase="TRAINING")
        asked = catalog.request_pause(run.run_id, "save").pause
        paused = catalog.set_phase(run.run_id, "PAUSED", only_from=("TRAINING",))
        assert asked is not None
        assert paused is not None
        assert paused.pause == replace(asked, resources_released=True)

    @pytest.mark.parametrize("phase", ["COMPLETED", "FAILED", "CANCELLED"])
    def test_an_end_is_no_pause(self, catalog: Catalog, phase: str) -> None:
        """A run that ends before it could pause forgets that it was asked; its end is an event unless it completed."""
        run = make_run(catalog, phase="TRAINING")
        catalog.request_pause(run.run_id, "save")
        ended = catalog.set_phase(run.run_id, phase, only_from=("TRAINING",), ended_at="2026-02-03T00:00:00Z")
        assert ended is not None
        assert (ended.pause, ended.ended_at) == (None, "2026-02-03T00:00:00Z")
        assert catalog.requests(run.run_id).pause is None
        assert [event["phase"] for event in ended.events] == [phase] * (phase != "COMPLETED")

    def test_the_trainers_own_pause(self, catalog: Catalog) -> None:
        """A full disk pauses a run that nobody asked to; code and reason are kept, and taken back when it goes on."""
        run = make_run(catalog, phase="TRAINING")
        told = Pause(None, "2026-01-01T00:00:00Z", None, "no room", True)
        stated: dict[str, Any] = {"failure_code": "DISK_FULL", "failure_reason": "no room", "pause": told}
        paused = catalog.set_phase(run.run_id, "PAUSED", only_from=("TRAINING",), **stated)
        assert paused is not None
        assert (paused.failure_code, paused.pause) == ("DISK_FULL", told)
        assert paused.events[-1]["code"] == "DISK_FULL"
        queued = catalog.requeue(run.run_id)
        assert (queued.failure_code, queued.failure_reason, queued.pause) == (None, None, None)


class TestQueuedAgain:
    """Which runs another attempt may be made at."""

    @pytest.mark.parametrize(("phase", "resumable"), [("PAUSED", False), ("FAILED", True)])
    def test_one_that_may_go_on(self, catalog: Catalog, phase: str, resumable: bool) -> None:
        """It waits, and what was said of its end is taken back; what happened stays among its events."""
        run = make_run(catalog, phase="TRAINING")
        catalog.set_phase(run.run_id, phase, only_from=("TRAINING",), failure_code="X", resumable=resumable)
        queued = catalog.requeue(run.run_id)
        assert (queued.phase, queued.failure_code, queued.resumable, queued.ended_at, queued.pause) == (
            "QUEUED", None, False, None, None
        )  # fmt: skip
        assert len(queued.events) == 1

    @pytest.mark.parametrize(
        ("phase", "advice"),
        [
            ("COMPLETED", "repeat"),
            ("CANCELLED", "repeat"),
            ("FAILED", "repeat"),
            ("QUEUED", "nothing has to be resumed"),
            ("PREPARING", "nothing has to be resumed"),
            ("TRAINING", "nothing has to be resumed"),
        ],
    )
    def test_any_other_is_told_what_to_do(self, catalog: Catalog, phase: str, advice: str) -> None:
        """The message says how the run is, the hint what there is instead; nothing changes."""
        run = make_run(catalog, phase=phase)
        with pytest.raises(errors.Refused, match=f"{run.run_id} is {phase}") as caught:
            catalog.requeue(run.run_id)
        assert advice in (caught.value.hint or "")
        assert catalog.run(run.run_id) == run

    def test_of_two_at_once_one_wins(self, home: Home, catalog: Catalog) -> None:
        """The run waits once, makes one more attempt, and the others are told that it waits already."""
        run = claimed(catalog)
        fell(catalog, run)
        told: list[str] = []
        ready = threading.Barrier(4)

        def resume() -> None:
            with Catalog.open(home) as own:
                ready.wait(20)
                try:
                    told.append(own.requeue(run.run_id).phase)
                except errors.Refused as error:
                    told.append(error.message)

        threads = [threading.Thread(target=resume) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == ["QUEUED", *[f"run {run.run_id} is QUEUED already"] * 3]
        found = catalog.claim()
        assert found is not None
        assert found.attempt == 2
        assert catalog.claim() is None

    def test_it_keeps_its_place_in_the_queue(self, catalog: Catalog) -> None:
        """A run that was begun comes before those that were submitted after it."""
        run = claimed(catalog)
        catalog.add_run(new_run(catalog))
        fell(catalog, run)
        catalog.requeue(run.run_id)
        found = catalog.claim()
        assert found is not None
        assert found.run_id == run.run_id


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
