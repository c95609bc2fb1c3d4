"""Records survive the wire unchanged."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize import records
from akka_optimize.protocol import convert
from akka_optimize.protocol import trainer_pb2 as pb

DIVISION = records.Division(1, 4, 2, 8)
RUN = records.Run(
    run_id="7d496e82c3a15f04", name="first", purpose=None, description="d", config_name=None, phase="TRAINING",
    workload="triage", workload_id="00aa", method="sft", base_model="akka/x", dataset="ff" * 32, dataset_name="train",
    grader=None, submission_id=None, config_hash="e14ea5ff5f88", plan={"rank": 8, "rate": 1e-5, "seed": 1},
    config={"seed": 1, "ü": "\u2028"}, execution={"gpus": 1}, environment=None, stated=("config.seed",),
    division=DIVISION, seed=2**32 - 1, steps=10, observed_step=3, saved_step=None, attempt=1, loss=0.1 + 0.2,
    validation_loss=None, failure_code=None, failure_reason=None, resumable=False, created_at="2026-01-01T00:00:00Z",
    started_at=None, ended_at=None, folder="runs/x", training_rows=9, validation_rows=1, skipped_rows=0,
)  # fmt: skip
RESOLVED = records.ResolvedRun(
    descriptor={"kind": "run"}, config={"a": 1.0}, execution={"gpus": 1}, plan={"b": [1, 2.0]}, config_hash="0" * 12,
    division=DIVISION, steps=3, training_rows=2, validation_rows=1, skipped_rows=1, stated=("a",), notes=("n",),
)  # fmt: skip
ROUND_TRIPS = [
    pytest.param(RUN, convert.to_run, convert.run, id="run"),
    pytest.param(
        dataclasses.replace(RUN, name=None, environment={"torch": "2"}, saved_step=3, validation_loss=0.0, attempt=2),
        convert.to_run, convert.run, id="run-with-the-other-fields",
    ),
    pytest.param(RESOLVED, convert.to_resolved_run, convert.resolved_run, id="resolved-run"),
    pytest.param(DIVISION, convert.to_division, convert.division, id="division"),
    pytest.param(
        records.Info("embedded", "1", "/h", 1, 0, 0, "complete", ("n",), "Python 3", "2026-12-01T00:00:00Z"),
        convert.to_info, convert.info, id="info"
    ),
    pytest.param(
        records.Dataset("ab", ("x", "y"), 3, 10, 1, ("f",), "t"), convert.to_dataset, convert.dataset, id="dataset"
    ),
    pytest.param(
        records.Workload("ab", "x", None, "json-label-match", "t", 2), convert.to_workload, convert.workload,
        id="workload",
    ),
    pytest.param(
        records.BaseModel("a", "r", "v", "ready", "e", ("sft",), ("FP32",), 9, 512, "l", "d"),
        convert.to_base_model, convert.base_model, id="base-model",
    ),
    pytest.param(
        records.RunEvent("a", "FAILED", 3, 9, None, "t", True, "WORKER_LOST", "why"),
        convert.to_run_event, convert.run_event, id="event",
    ),
    pytest.param(
        records.Snapshot(
            "s", "r", 1, 20, 1.5, (records.Artifact("weights", "d", 5, False),), "Available", 0.5, "t", True, ("pin",)
        ),
        convert.to_snapshot, convert.snapshot, id="snapshot",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("record", "pack", "unpack"), ROUND_TRIPS)
def test_a_record_comes_back_equal(record, pack, unpack):
    """Packing, serialising, parsing and unpacking change nothing, neither a value nor the type of a number."""
    message = pack(record)
    back = unpack(type(message).FromString(message.SerializeToString()))
    assert back == record
    assert repr(back) == repr(record)


def test_a_loss_that_is_no_number_stays_one():
    """NaN is not a missing loss."""
    back = convert.run(convert.to_run(dataclasses.replace(RUN, loss=math.nan)))
    assert math.isnan(back.loss)


def test_the_plan_crosses_in_the_text_that_is_hashed():
    """The plan's JSON text is the canonical one, so that its hash can be recomputed on either side."""
    assert convert.to_run(RUN).plan_json == '{"rank": 8, "rate": 1e-05, "seed": 1}'


def test_chunks_join_in_order_with_their_attempts():
    """Columns are whole, a sparse one has its own steps, and each value knows its attempt."""
    chunks = [
        pb.MetricsChunk(attempt=1, steps=[1, 2], columns=[pb.MetricsColumn(name="loss", values=[3.0, 2.0])]),
        pb.MetricsChunk(
            attempt=2,
            steps=[2, 3],
            columns=[
                pb.MetricsColumn(name="loss", values=[2.5, math.inf]),
                pb.MetricsColumn(name="validationLoss", values=[9.0], steps=[3]),
            ],
        ),
    ]
    columns = convert.metrics(chunks).columns
    assert columns["loss"].steps.tolist() == [1, 2, 2, 3]
    assert columns["loss"].values.tolist() == [3.0, 2.0, 2.5, math.inf]
    assert columns["loss"].attempts.tolist() == [1, 1, 2, 2]
    assert (columns["validationLoss"].steps.tolist(), columns["validationLoss"].attempts.tolist()) == ([3], [2])
    assert columns["loss"].steps.dtype == np.int64


def test_no_chunk_is_no_column():
    """A run that recorded nothing has no columns, rather than empty ones."""
    assert convert.metrics([]).columns == {}


@given(st.integers(0, 2**31), st.integers(1, 40), st.sets(st.integers(0, 39), max_size=3), st.booleans())
def test_steps_that_follow_each_other_need_not_be_sent(first, count, missing, own):
    """Whatever the steps of a chunk, its columns are the same with and without them; gaps are never filled in."""
    steps = [first + offset for offset in range(count) if offset not in missing]
    columns = [pb.MetricsColumn(name="loss", values=[float(step) for step in steps])]
    if own:
        columns.append(pb.MetricsColumn(name="validationLoss", values=[1.5], steps=[first + count]))
    chunk = pb.MetricsChunk(attempt=1, steps=steps, columns=columns)
    before = convert.metrics([pb.MetricsChunk.FromString(chunk.SerializeToString())]).columns
    sent = convert.without_steps(chunk)
    after = convert.metrics([pb.MetricsChunk.FromString(sent.SerializeToString())]).columns
    assert before.keys() == after.keys()
    for name, column in before.items():
        assert (column.steps == after[name].steps).all()
        assert (column.values == after[name].values).all()
    contiguous = bool(steps) and bool(steps[0]) and steps == list(range(steps[0], steps[0] + len(steps)))
    assert (not sent.steps) == (contiguous or not steps)
