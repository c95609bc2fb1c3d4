"""Products of axes: their size, their points, and the points as nested documents."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws
from support.grids import axes

from akka_optimize.core import grid
from akka_optimize.core.points import canonical, child_run_id, flatten, label, nested, problems
from akka_optimize.errors import Exhausted
from akka_optimize.records import Axis

SEEDS = Axis("seed", tuple(range(1000)))


@laws
@given(axes())
def test_the_points_are_the_product(found):
    """Each combination of values once, the last axis varying fastest, as many as the size says."""
    paths = [axis.path for axis in found]
    expected = [dict(zip(paths, values, strict=True)) for values in product(*(axis.values for axis in found))]
    points = grid.points(found)
    assert list(map(repr, points)) == list(map(repr, expected))  # 1 and 1.0 told apart
    assert len(points) == grid.size(found)
    assert len({canonical(point) for point in points}) == len(points)


def test_the_last_axis_varies_fastest():
    """As an example that can be read."""
    rates, ranks = Axis("hyperparams.optimizer.learningRate", (1e-5, 2e-4)), Axis("hyperparams.lora.rank", (8, 16))
    assert [label(point) for point in grid.points([rates, ranks])] == [
        "learningRate=1e-05, rank=8",
        "learningRate=1e-05, rank=16",
        "learningRate=0.0002, rank=8",
        "learningRate=0.0002, rank=16",
    ]


@laws
@given(axes(), st.randoms(use_true_random=False))
def test_exchanging_axes_changes_no_id(found, draw):
    """The same points in another order, each with the id that it had."""
    exchanged = draw.sample(found, len(found))
    ids = {child_run_id("t", point) for point in grid.points(found)}
    assert {child_run_id("t", point) for point in grid.points(exchanged)} == ids
    assert len(ids) == grid.size(found)


@laws
@given(axes())
def test_nothing_of_an_axis_survives_in_a_point(found):
    """A point holds one plain value for each path, and is no fault's occasion."""
    for point in grid.points(found):
        assert set(point) == {axis.path for axis in found}
        assert all(isinstance(value, int | float | str) for value in point.values())
        assert problems(point) == ()


@laws
@given(axes())
def test_documents_are_the_points_nested(found):
    """The fast way over all points and the plain way over each come to the same."""
    documents, points = grid.documents(found), grid.points(found)
    assert list(map(repr, documents)) == [repr(nested(point)) for point in points]
    assert list(map(flatten, documents)) == points


def test_documents_share_nothing():
    """Changing one leaves the others as they were, at every depth."""
    first, second = grid.documents([Axis("hyperparams.lora.rank", (8, 16))])
    first["hyperparams"]["lora"]["alpha"] = 1.0
    assert second == {"hyperparams": {"lora": {"rank": 16}}}


def test_labels_tell_points_apart():
    """No two points of a grid have one label, whatever the texts on an axis."""
    texts = ("a", "a, seed=1", "a=1", '"a"', "1", "1.0", "true", "null", "a b", "é", "x" * 100, "x" * 101)
    points = grid.points([Axis("dataset", texts), Axis("seed", (0, 1))])
    assert len({label(point) for point in points}) == len(points)


@laws
@given(axes())
def test_labels_are_unique_within_a_grid(found):
    """The same for any grid."""
    points = grid.points(found)
    assert len({label(point) for point in points}) == len(points)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        pytest.param(
            [Axis("seed", tuple(range(51)))],
            "g.yaml: 51 values make 51 points; at most 50 can branch from one snapshot",
            id="fifty-one",
        ),
        pytest.param(
            [SEEDS, SEEDS, SEEDS],
            "g.yaml: 1000 x 1000 x 1000 values make 1000000000 points; at most 50 can branch from one snapshot",
            id="thousand-million",
        ),
    ],
)
def test_too_many_points_are_refused_before_they_are_made(found, message):
    """By their number alone, whichever it is."""
    with pytest.raises(Exhausted) as caught:
        grid.require_room(found, source="g.yaml")
    assert (str(caught.value), caught.value.field) == (message, "axes")


@pytest.mark.parametrize("values", [[50], [5, 10], [1], [1, 1, 1]], ids=str)
def test_up_to_fifty_points_have_room(values):
    """One comparison scores as many, so fifty themselves are allowed."""
    grid.require_room([Axis(f"a{i}", tuple(range(count))) for i, count in enumerate(values)])
