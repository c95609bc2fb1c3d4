"""Which learning rate holds at which update."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.trainer.engines.decoder.schedule import rate

TABLE = [
    pytest.param("constant", 4, 0, [8.0, 8.0, 8.0, 8.0], id="constant"),
    pytest.param("constant", 4, 1, [4.0, 8.0, 8.0, 8.0], id="constant-after-one-of-warm-up"),
    pytest.param("linear", 4, 0, [8.0, 6.0, 4.0, 2.0], id="linear-from-the-first-and-never-zero"),
    pytest.param("linear", 5, 1, [4.0, 8.0, 6.0, 4.0, 2.0], id="linear-after-warm-up"),
    pytest.param("linear", 1, 0, [8.0], id="linear-of-one"),
    pytest.param("cosine", 4, 0, [8.0, 4 + 4 / math.sqrt(2), 4.0, 4 - 4 / math.sqrt(2)], id="cosine"),
    pytest.param("cosine", 3, 3, [2.0, 4.0, 6.0], id="all-warm-up-never-reaches-the-peak"),
    pytest.param("linear", 2, 7, [1.0, 2.0], id="warm-up-longer-than-the-run"),
    pytest.param("linear", 4, 3, [2.0, 4.0, 6.0, 8.0], id="the-last-is-the-first-at-the-peak"),
]


@pytest.mark.parametrize(("kind", "steps", "warmup", "expected"), TABLE)
def test_the_rate_of_each_update(kind, steps, warmup, expected):
    """With a peak of 8: the rates of updates 1 to the last."""
    found = [rate(t, steps=steps, peak=8.0, warmup=warmup, kind=kind) for t in range(1, steps + 1)]
    assert found == pytest.approx(expected, rel=1e-12)


@given(
    st.sampled_from(["constant", "linear", "cosine"]), st.integers(1, 200), st.integers(0, 250), st.floats(1e-9, 1e3)
)
def test_the_rate_climbs_to_the_peak_and_never_again(kind, steps, warmup, peak):
    """Every update moves, none above the peak; the rate rises through the warm-up and never rises after it."""
    found = [rate(t, steps=steps, peak=peak, warmup=warmup, kind=kind) for t in range(1, steps + 1)]
    assert all(0 < r <= peak for r in found)
    assert all(a < b for a, b in pairwise(found[: warmup + 1]))
    assert all(a >= b for a, b in pairwise(found[warmup:]))
    assert steps <= warmup or found[warmup] == peak
