"""When two curves part."""

from __future__ import annotations

import math

import numpy as np
import pytest

from akka_optimize.core.parting import max_abs_window, parting
from akka_optimize.records import Windows

NAN, INF = math.nan, math.inf
ABOVE = math.nextafter(0.03, 1)


def made(means, full=None):
    """Windows of ten steps with the given mean differences."""
    firsts = np.arange(1, 10 * len(means), 10)
    ones = np.ones(len(means))
    flags = np.array([True] * len(means) if full is None else full)
    return Windows(firsts, firsts + 9, ones * 10, flags, ones, ones, np.array(means, float))


@pytest.mark.parametrize(
    ("means", "full", "expected"),
    [
        pytest.param([0.03, -0.03], None, None, id="margin-met-exactly-does-not-part"),
        pytest.param([0.0, ABOVE], None, (1, ABOVE, "margin"), id="the-next-number-above-the-margin-does"),
        pytest.param([-ABOVE], None, (0, -ABOVE, "margin"), id="in-either-direction"),
        pytest.param([0.1, 0.5], None, (0, 0.1, "margin"), id="the-first-not-the-largest"),
        pytest.param([0.5, 0.1], [False, True], (1, 0.1, "margin"), id="never-a-window-that-is-not-full"),
        pytest.param([0.0, NAN, 0.5], None, (1, None, "nonFinite"), id="one-side-not-finite"),
        pytest.param([NAN, 0.0], [False, True], None, id="nothing-left-in-a-window-is-no-parting"),
        pytest.param([INF], None, (0, None, "nonFinite"), id="a-mean-too-large-to-be-a-number"),
        pytest.param([0.0, 0.0], None, None, id="equal-curves"),
        pytest.param([0.5], [False], None, id="no-full-window"),
    ],
)
def test_parting(means, full, expected):
    """The first full window strictly beyond the margin of 0.03, or with one side not finite."""
    found = parting(made(means, full), 0.03)
    assert (found and (found.window, found.mean_difference, found.reason)) == expected
    if found:
        assert (found.first_step, found.last_step) == (10 * found.window + 1, 10 * found.window + 10)


def test_a_margin_of_zero_parts_at_any_difference():
    """Zero is a margin: curves that are equal bit for bit do not part, any others do."""
    assert parting(made([0.0]), 0.0) is None
    assert parting(made([5e-324]), 0.0) is not None


@pytest.mark.parametrize(
    ("means", "full", "expected"),
    [
        pytest.param([0.1, -0.2], None, 0.2, id="without-its-sign"),
        pytest.param([0.1, 0.5], [True, False], 0.1, id="full-windows-only"),
        pytest.param([0.1, NAN], None, 0.1, id="finite-windows-only"),
        pytest.param([NAN], None, None, id="none-is-finite"),
        pytest.param([0.1], [False], None, id="none-is-full"),
        pytest.param([0.0], None, 0.0, id="zero-is-a-size"),
    ],
)
def test_max_abs_window(means, full, expected):
    """The largest size of a mean difference over the full finite windows."""
    assert max_abs_window(made(means, full)) == expected
