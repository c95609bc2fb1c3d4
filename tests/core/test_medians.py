"""What the median promises."""

from __future__ import annotations

import statistics
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws

from akka_optimize.core.medians import median

NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=False)


@laws
@given(st.lists(NUMBERS, min_size=1))
def test_median_is_the_middle_of_the_sorted_list(values):
    """Odd and even lengths agree with the standard library, but for a half that is too small to be a normal number."""
    assert median(np.array(values)) == pytest.approx(statistics.median(values), rel=0, abs=sys.float_info.min)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([], None, id="nothing-has-no-median"),
        pytest.param([3.0], 3.0, id="one"),
        pytest.param([1.0, 2.0], 1.5, id="two"),
        pytest.param([2.0, 2.0, 2.0, 5.0], 2.0, id="ties"),
        pytest.param([1.6e308, 1.6e308], 1.6e308, id="a-sum-that-would-overflow"),
        pytest.param([0.0, 0.0, 7.0], 0.0, id="zero"),
    ],
)
def test_median_at_the_edges(values, expected):
    """Nothing, little, much of the same, and numbers near the largest there are."""
    assert median(np.array(values)) == expected


def test_median_leaves_its_input_as_it_was():
    """The partition works on a copy: recorded curves are shared."""
    values = np.array([3.0, 1.0, 2.0])
    values.flags.writeable = False
    assert median(values) == 2.0
