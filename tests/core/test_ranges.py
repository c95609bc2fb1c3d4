"""How chosen steps are gathered into blocks, and named when they are not finite."""

from __future__ import annotations

import math
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws

from akka_optimize.core.nonfinite import non_finite
from akka_optimize.core.ranges import no_ranges, ranges

INF, NAN = math.inf, math.nan


def rows(found):
    """The blocks as a list of (first, last, count)."""
    return list(zip(found.first_steps.tolist(), found.last_steps.tolist(), found.counts.tolist(), strict=True))


def naive_ranges(steps, chosen):
    """The blocks by grouping neighbours."""
    groups = (list(group) for key, group in groupby(zip(chosen, steps, strict=True), key=lambda pair: pair[0]) if key)
    return [(group[0][1], group[-1][1], len(group)) for group in groups]


@laws
@given(st.lists(st.booleans()), st.integers(1, 9), st.integers(1, 9))
def test_ranges_agree_with_grouping_neighbours(chosen, first, stride):
    """Neighbours in the recorded steps make a block, however far apart their numbers are."""
    steps = np.arange(first, first + stride * len(chosen), stride)
    assert rows(ranges(steps, np.array(chosen, bool))) == naive_ranges(steps.tolist(), chosen)


def test_no_ranges_is_what_nothing_chosen_gives():
    """The shortcut and the long way agree."""
    assert rows(no_ranges()) == rows(ranges(np.array([1, 2]), np.array([False, False]))) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([1.0, 2.0], [], id="all-finite"),
        pytest.param([], [], id="nothing-recorded"),
        pytest.param([1.0, NAN, NAN, 2.0], [("NaN", [(20, 30, 2)])], id="a-block-of-nan"),
        pytest.param([INF, NAN, INF], [("NaN", [(20, 20, 1)]), ("Infinity", [(10, 10, 1), (30, 30, 1)])], id="mixed"),
        pytest.param([-INF, -INF], [("-Infinity", [(10, 20, 2)])], id="minus-infinity"),
    ],
)
def test_non_finite_names_each_value_and_its_blocks(values, expected):
    """Each kind of number that is not finite is told apart, with its first and last recorded step."""
    steps = np.arange(10, 10 + 10 * len(values), 10)
    found = non_finite("loss", steps, np.array(values))
    assert [(each.value, rows(each.ranges)) for each in found] == expected
    assert {each.metric for each in found} <= {"loss"}
