"""Which value of a step holds, and which steps are paired."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import column, laws

from akka_optimize.core.alignment import Latest, align, contains, latest
from akka_optimize.errors import Internal
from akka_optimize.records import Column

STEPS = st.sets(st.integers(1, 30)).map(sorted)
# What a run records: for each attempt the steps of one stretch.
ATTEMPTS = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 10)), max_size=4)


def curve(steps):
    """A curve whose value at a step is the step."""
    return Latest(np.array(steps, np.int64), np.array(steps, float), 0)


@laws
@given(ATTEMPTS)
def test_latest_keeps_what_the_last_attempt_recorded(stretches):
    """The naive dictionary, overwritten in order, holds the same values, and the rest was replaced."""
    recorded = [(first + i, k) for k, (first, n) in enumerate(stretches, 1) for i in range(n)]
    steps, attempts = [step for step, _ in recorded], [attempt for _, attempt in recorded]
    found = latest(column(attempts, steps, attempts))  # the value tells the attempt
    expected = dict(recorded)
    assert found.steps.tolist() == sorted(expected)
    assert found.values.tolist() == [expected[step] for step in sorted(expected)]
    assert found.replaced == len(recorded) - len(expected)


@pytest.mark.parametrize("attempts", [[1, 1], [1, 2]])
def test_latest_counts_what_is_gone_already(attempts):
    """The values that a curve lost when it was cut are added to those that it holds twice."""
    assert latest(column([3.0, 2.0], steps=[5, 5 if attempts[1] == 2 else 6], attempts=attempts), 7).replaced == (
        7 + attempts[1] - 1
    )


def test_latest_of_one_attempt_copies_nothing():
    """A million steps of a run that was never resumed are handed on as they are."""
    recorded = column([3.0, 2.0], steps=[5, 10])
    found = latest(recorded)
    assert found.steps is recorded.steps
    assert found.values is recorded.values


@laws
@given(STEPS, STEPS)
def test_align_pairs_common_steps_and_keeps_the_rest_apart(ours, theirs):
    """Intersection and differences are those of the two sets, and every value stays with its step."""
    found = align(curve(ours), curve(theirs))
    common = sorted({*ours} & {*theirs})
    assert found.steps.tolist() == found.run.tolist() == found.baseline.tolist() == common
    for only, own, other in ((found.only_run, ours, theirs), (found.only_baseline, theirs, ours)):
        blocks = zip(only.first_steps.tolist(), only.last_steps.tolist(), strict=True)
        told = [step for first, last in blocks for step in own if first <= step <= last]
        assert told == sorted({*own} - {*other})
        assert only.counts.sum() == len(told)


@pytest.mark.parametrize("steps", [[1, 3, 2], [1, 2, 2]], ids=["descending", "twice-in-one-attempt"])
def test_align_refuses_a_curve_out_of_order(steps):
    """A trainer that sends steps out of order is a fault, on the equal path and on the other, never a wrong pairing."""
    for other in (steps, [1, 2, 3, 4]):
        with pytest.raises(Internal, match="do not ascend"):
            align(curve(steps), curve(other))
        with pytest.raises(Internal, match="do not ascend"):
            align(curve(other), curve(steps))


@laws
@given(STEPS.filter(bool), STEPS)
def test_contains_is_membership(steps, some):
    """Step by step the same as `in`."""
    found = contains(np.array(steps), np.array(some, np.int64))
    assert found.tolist() == [step in steps for step in some]


def test_latest_reads_memory_that_cannot_be_written():
    """Curves are views of what came over the wire."""
    steps, values = np.array([2, 3, 1, 2]), np.array([1.0, 2.0, 3.0, 4.0])
    for array in (steps, values):
        array.flags.writeable = False
    found = latest(Column(steps, values, np.array([1, 1, 2, 2])))
    assert (found.steps.tolist(), found.values.tolist(), found.replaced) == ([1, 2, 3], [3.0, 4.0, 2.0], 1)
