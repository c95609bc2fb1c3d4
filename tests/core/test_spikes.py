"""Which gradient norms are spikes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws

from akka_optimize.core.spikes import spikes

INF, NAN = math.inf, math.nan
NORMS = st.one_of(st.floats(0, 1e300), st.just(INF), st.just(NAN))


def naive_spikes(norms, median, factor):
    """The definition, one norm at a time."""
    return [i for i, g in enumerate(norms) if g == INF or (median is not None and g >= factor * median and g > 0)]


@laws
@given(st.lists(NORMS), st.none() | st.floats(0, 1e300), st.floats(0.5, 1e6))
def test_spikes_agree_with_the_definition(norms, median, factor):
    """The vectorised kernel finds what a loop finds."""
    assert spikes(np.array(norms, float), median, factor).tolist() == naive_spikes(norms, median, factor)


@pytest.mark.parametrize(
    ("norms", "median", "expected"),
    [
        pytest.param([1.0, 9.999, 10.0], 1.0, [2], id="the-factor-met-exactly-is-a-spike"),
        pytest.param([0.0, 0.0, 0.0], 0.0, [], id="no-norm-of-zero-is-a-spike"),
        pytest.param([0.0, 1e-300, 0.0], 0.0, [1], id="zero-median-makes-every-other-norm-a-spike"),
        pytest.param([1.0, INF], 1.0, [1], id="infinite-norm"),
        pytest.param([INF, NAN], None, [0], id="infinite-norm-without-a-median"),
        pytest.param([NAN, -INF, 1.0], 1.0, [], id="neither-nan-nor-minus-infinity"),
        pytest.param([1e308, INF], 1e308, [1], id="a-threshold-beyond-all-numbers"),
        pytest.param([], None, [], id="no-norm-at-all"),
    ],
)
def test_spikes_at_the_edges(norms, median, expected):
    """Ten times the median, at each edge of the rule."""
    assert spikes(np.array(norms), median, 10.0).tolist() == expected
