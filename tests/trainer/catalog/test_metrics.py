"""Curves: what was recorded comes back, however it is stored, merged, chosen from or cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.catalog import chunked, make_run, new_run, points

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.catalog import Catalog, curves


def test_a_long_run_ends_in_few_large_chunks(catalog: Catalog) -> None:
    """What was committed in many small chunks is merged into as many as the wire needs, each below 1 MiB."""
    steps = np.arange(1, 50_001)
    columns = {name: np.sin(steps * k) for k, name in enumerate(("loss", "gradNorm", "learningRate", "tokens"), 1)}
    run_id = catalog.add_run(new_run(catalog)).run_id
    chunks = chunked(1, steps, columns, size=100)
    catalog.record(run_id, chunks, observed_step=50_000, loss=1.0)
    assert len(list(catalog.metrics(run_id))) == 500
    catalog.merge_metrics(run_id)
    found = list(catalog.metrics(run_id))
    assert points(found) == points(chunks)
    assert len(found) == 2 * math.ceil(50_000 * 19 / curves.LIMIT)
    assert max(chunk.ByteSize() for chunk in found) < 2**20


def test_one_large_chunk_is_stored_in_parts(catalog: Catalog) -> None:
    """A chunk that no message could carry is split before it is stored."""
    run = make_run(catalog, loss=np.zeros(200_000), merged=False)
    chunks = chunked(2, np.arange(1, 200_001), {"loss": np.arange(200_000.0)}, size=200_000)
    catalog.record(run.run_id, chunks, observed_step=200_000, loss=0.0)
    found = [chunk for chunk in catalog.metrics(run.run_id) if chunk.attempt == 2]
    assert max(chunk.ByteSize() for chunk in found) < 2**20
    assert points(found) == points(chunks)


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf, 0.1, 5e-324, None], ids=str)
def test_progress_keeps_every_kind_of_loss(catalog: Catalog, loss: float | None) -> None:
    """NaN is not missing: a run's newest loss is what was recorded, to the last bit."""
    run_id = catalog.add_run(new_run(catalog)).run_id
    catalog.record(run_id, [], observed_step=7, loss=loss, validation_loss=loss)
    run = catalog.run(run_id)
    assert (run.observed_step, repr(run.loss), repr(run.validation_loss)) == (7, repr(loss), repr(loss))


def test_the_last_validation_stands(catalog: Catalog) -> None:
    """Progress without a validation does not take the last one away."""
    run_id = catalog.add_run(new_run(catalog)).run_id
    catalog.record(run_id, [], observed_step=1, loss=1.0, validation_loss=0.5)
    catalog.record(run_id, [], observed_step=2, loss=0.9)
    assert (catalog.run(run_id).loss, catalog.run(run_id).validation_loss) == (0.9, 0.5)


def chunk(steps: list[int], **columns: list[float]) -> pb.MetricsChunk:
    """A chunk whose columns are at all of its steps."""
    return pb.MetricsChunk(
        attempt=1, steps=steps, columns=[pb.MetricsColumn(name=name, values=values) for name, values in columns.items()]
    )


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(chunk([1, 2], loss=[1.0]), id="too-few-values"),
        pytest.param(chunk([1], loss=[1.0, 2.0]), id="too-many-values"),
        pytest.param(chunk([2, 1], loss=[1.0, 2.0]), id="descending"),
        pytest.param(chunk([1, 1], loss=[1.0, 2.0]), id="one-step-twice"),
        pytest.param(chunk([1], **{"": [1.0]}), id="column-without-name"),
        pytest.param(chunk([1], **{"a b": [1.0]}), id="name-with-a-space"),
        pytest.param(
            pb.MetricsChunk(steps=[1], columns=[pb.MetricsColumn(name="loss", values=[1.0])] * 2), id="one-column-twice"
        ),
        pytest.param(
            pb.MetricsChunk(steps=[1, 2], columns=[pb.MetricsColumn(name="loss", values=[1.0, 2.0], steps=[2, 1])]),
            id="own-steps-descending",
        ),
    ],
)
def test_a_chunk_that_contradicts_itself_is_refused(catalog: Catalog, bad: pb.MetricsChunk) -> None:
    """Nothing of the call is kept, neither the good chunks beside the bad one nor the progress."""
    run_id = catalog.add_run(new_run(catalog)).run_id
    with pytest.raises(errors.Invalid):
        catalog.record(run_id, [chunk([1], loss=[1.0]), bad], observed_step=1, loss=1.0)
    assert list(catalog.metrics(run_id)) == []
    assert catalog.run(run_id).observed_step == 0


def test_what_cannot_be_asked(catalog: Catalog) -> None:
    """An unknown run and a negative number of steps are refused when asked, not at the first chunk."""
    run = make_run(catalog, loss=[1.0])
    with pytest.raises(errors.NotFound):
        catalog.metrics("0" * 16)
    with pytest.raises(errors.NotFound):
        catalog.merge_metrics("0" * 16)
    with pytest.raises(errors.NotFound):
        catalog.record("0" * 16, [], observed_step=1, loss=None)
    with pytest.raises(errors.Invalid, match="negative"):
        catalog.metrics(run.run_id, last_steps=-1)


def test_a_step_that_was_recorded_twice_stays(catalog: Catalog) -> None:
    """Even where an attempt went over its own steps again, a merge keeps each value, the earlier one first."""
    run_id = catalog.add_run(new_run(catalog)).run_id
    chunks = [chunk([1, 2, 3], loss=[1.0, 2.0, 3.0]), chunk([2, 3, 4], loss=[20.0, 30.0, 40.0]), chunk([5], loss=[5.0])]
    catalog.record(run_id, chunks, observed_step=5, loss=5.0)
    catalog.merge_metrics(run_id)
    found = list(catalog.metrics(run_id))
    assert points(found) == points(chunks)
    for part in found:
        curves.check(part)


def test_reading_goes_on_while_a_run_is_merged(catalog: Catalog) -> None:
    """Chunks that somebody is reading are of the moment of asking, whatever is merged meanwhile."""
    run = make_run(catalog, loss=np.arange(100.0), grad_norm=np.arange(100.0), merged=False)
    before = points(catalog.metrics(run.run_id))
    reading = catalog.metrics(run.run_id)
    catalog.merge_metrics(run.run_id)
    assert points(reading) == before


def test_a_run_made_for_a_test_has_its_curves(catalog: Catalog) -> None:
    """The helper that other tests rest on stores what it is given."""
    run = make_run(
        catalog,
        loss=[1.0, math.nan],
        grad_norm=[2.0, math.inf],
        at=[5, 7],
        columns={"validationLoss": ([7], [0.5])},
        attempts=[([7, 8], [0.8, 0.7], None)],
        method="grpo",
        phase="FAILED",
    )
    assert (run.method, run.phase, run.attempt, run.observed_step, run.steps, run.loss) == (
        "grpo",
        "FAILED",
        2,
        8,
        8,
        0.7,
    )
    expected = [
        pb.MetricsChunk(
            attempt=1,
            steps=[5, 7],
            columns=[
                pb.MetricsColumn(name="loss", values=[1.0, math.nan]),
                pb.MetricsColumn(name="gradNorm", values=[2.0, math.inf]),
                pb.MetricsColumn(name="validationLoss", values=[0.5], steps=[7]),
            ],
        ),
        chunk([7, 8], loss=[0.8, 0.7]),
    ]
    expected[1].attempt = 2
    assert points(catalog.metrics(run.run_id)) == points(expected)
