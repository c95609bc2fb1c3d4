"""What a comparison of two curves says, from the columns as they were recorded."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import column, laws

from akka_optimize.core.comparison import compare
from akka_optimize.errors import Invalid, Refused

INF, NAN = math.inf, math.nan
FLAT = [1.0] * 4


def told(found):
    """What the edge table looks at, in plain values."""
    return {
        "compared": found.compared,
        "full": found.full_windows,
        "means": [None if math.isnan(mean) else mean for mean in found.windows.mean_differences.tolist()],
        "spans": list(zip(found.windows.first_steps.tolist(), found.windows.last_steps.tolist(), strict=True)),
        "parting": found.parting and (found.parting.first_step, found.parting.reason),
        "overall": found.mean_difference,
        "largest": found.max_abs_window,
        "only": tuple(blocks(side.only) for side in (found.run, found.baseline)),
        "replaced": (found.run.replaced, found.baseline.replaced),
        "medians": (found.run.median_grad_norm, found.baseline.median_grad_norm),
        "norms": (found.run.norms, found.baseline.norms),
        "spikes": tuple(side.spikes.steps.tolist() for side in (found.run, found.baseline)),
        "nonfinite": [(bad.metric, bad.value, blocks(bad.ranges)) for bad in found.run.non_finite],
        "apart": [(bad.metric, bad.value, blocks(bad.ranges)) for bad in found.non_finite],
    }


def blocks(found):
    """Ranges as (first, last) pairs."""
    return list(zip(found.first_steps.tolist(), found.last_steps.tolist(), strict=True))


# run's loss, baseline's loss, run's norm, baseline's norm, and what is said of them with a window of 2 steps
EDGES = [
    pytest.param(
        column([1.25, 1.25]), column([1.0, 1.0]), None, None,
        {"means": [0.25], "parting": None, "largest": 0.25}, id="margin-met-exactly",
    ),
    pytest.param(
        column([1.0, NAN, 1.0, 1.0]), column(FLAT), None, None,
        {"means": [None, 0.0], "full": 2, "parting": (1, "nonFinite"), "overall": 0.0, "largest": 0.0,
         "nonfinite": [("loss", "NaN", [(2, 2)])]}, id="one-nan",
    ),
    pytest.param(
        column([NAN] * 4), column([NAN] * 4), None, None,
        {"means": [None, None], "full": 0, "parting": None, "overall": None, "largest": None,
         "nonfinite": [("loss", "NaN", [(1, 4)])]}, id="all-nan",
    ),
    pytest.param(
        column(FLAT), column(FLAT), column([1, INF, 1, 1]), column(FLAT),
        {"medians": (1.0, 1.0), "spikes": ([2], []), "nonfinite": [("gradNorm", "Infinity", [(2, 2)])]},
        id="infinite-norm",
    ),
    pytest.param(
        column(FLAT), column(FLAT), column([0, 0, 0, 1e-9]), column([0, 0, 0, 0]),
        {"medians": (0.0, 0.0), "spikes": ([4], [])}, id="zero-median",
    ),
    pytest.param(
        column(FLAT), column(FLAT), None, column([]),
        {"medians": (None, None), "norms": (0, 0), "spikes": ([], []), "nonfinite": []}, id="no-norm-at-all",
    ),
    pytest.param(
        column(FLAT), column(FLAT), column([NAN] * 4), column([NAN, 1, 1, 10]),
        {"medians": (None, 1.0), "norms": (4, 4), "spikes": ([], [4])}, id="norms-that-are-all-nan",
    ),
    pytest.param(
        column([3.0]), column([1.0]), None, None,
        {"means": [2.0], "full": 0, "parting": None, "overall": 2.0, "largest": None}, id="fewer-steps-than-a-window",
    ),
    pytest.param(
        column([1.0] * 5), column([1.0] * 4, steps=[2, 3, 6, 7]), None, None,
        {"compared": 2, "spans": [(2, 3)], "only": ([(1, 1), (4, 5)], [(6, 7)])}, id="steps-that-only-one-has",
    ),
    pytest.param(
        column([1, 9, 9, 9, 1, 1, 1], [1, 2, 3, 4, 2, 3, 4], [1, 1, 1, 1, 2, 2, 2]), column(FLAT),
        column([1, 50, 1, 1, 1, 1, 1], [1, 2, 3, 4, 2, 3, 4], [1, 1, 1, 1, 2, 2, 2]), None,
        {"means": [0.0, 0.0], "replaced": (3, 0), "spikes": ([], [])}, id="duplicated-steps-of-two-attempts",
    ),
    pytest.param(
        column(FLAT, steps=[101, 102, 103, 104]), column(FLAT, steps=[101, 102, 103, 104]), None, None,
        {"spans": [(101, 102), (103, 104)], "compared": 4}, id="first-step-not-1",
    ),
    pytest.param(
        column(FLAT, steps=[10, 20, 30, 40]), column([1.0] * 40), None, None,
        {"spans": [(10, 20), (30, 40)], "full": 2,
         "only": ([], [(1, 9), (11, 19), (21, 29), (31, 39)])}, id="steps-recorded-every-10th-update",
    ),
    pytest.param(
        column([1e17, 1.0, 1.5, 1.0]), column(FLAT), None, None,
        {"means": [5e16, 0.25], "parting": (1, "margin")}, id="one-step-of-1e17",
    ),
    pytest.param(
        column([1e308, 1e308, 1e308, -1e308]), column([-1e308, -1e308, -1e308, 1e308]), None, None,
        {"means": [INF, 0.0], "parting": (1, "nonFinite"), "overall": 1e308, "largest": 0.0, "nonfinite": [],
         "apart": [("loss", "Infinity", [(1, 3)]), ("loss", "-Infinity", [(4, 4)])]}, id="differences-that-overflow",
    ),
    pytest.param(
        column([1e308] * 4), column([-1e308] * 4), None, None,
        {"means": [INF, INF], "parting": (1, "nonFinite"), "overall": None, "largest": None,
         "apart": [("loss", "Infinity", [(1, 4)])]}, id="an-overall-mean-beyond-every-float",
    ),
    pytest.param(
        column([1e308] * 4), column(FLAT), None, None,
        {"means": [1e308, 1e308], "parting": (1, "margin"), "overall": 1e308, "apart": []}, id="sums-that-overflow",
    ),
    pytest.param(
        column(FLAT[:2]), column(FLAT[:2]), column([1, 1, 1, 40]), column([1, 1]),
        {"spikes": ([4], []), "medians": (1.0, 1.0)}, id="a-spike-at-a-step-not-compared",
    ),
    pytest.param(
        column([1.0, 1.0, NAN]), column([1.0, 1.0]), None, None,
        {"nonfinite": [("loss", "NaN", [(3, 3)])], "full": 1}, id="nan-at-a-step-not-compared",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("run", "baseline", "run_norm", "baseline_norm", "expected"), EDGES)
def test_edges(run, baseline, run_norm, baseline_norm, expected):
    """Each rule of the comparison at its edge, with a window of 2 steps and a margin of 0.25."""
    found = told(compare(run, baseline, run_norm, baseline_norm, window=2, margin=0.25))
    assert {name: found[name] for name in expected} == expected


def test_a_spike_says_whether_its_step_was_compared():
    """A spike between the compared steps counts, and is marked."""
    found = compare(column([1.0] * 6), column([1, 1], [1, 3]), column([1, 1, 30, 1, 30, 1]), None)
    assert found.run.spikes.steps.tolist() == [3, 5]
    assert found.run.spikes.compared.tolist() == [True, False]
    assert found.run.spikes.grad_norms.tolist() == [30.0, 30.0]


def test_a_curve_compared_with_its_copy_is_equal_everywhere():
    """Every mean is exactly 0, also over numbers that are not finite."""
    values = [0.1 * k for k in range(40)]
    values[3] = NAN
    found = compare(column(values), column(values))
    assert found.windows.mean_differences.tolist() == [0.0] * 4
    assert (found.mean_difference, found.max_abs_window, found.full_windows, found.parting) == (0.0, 0.0, 3, None)


LOSS = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([NAN, INF, -INF]))
CURVES = st.dictionaries(st.integers(1, 40), LOSS, min_size=1).map(lambda d: dict(sorted(d.items())))


@laws
@given(CURVES, CURVES, st.integers(1, 9))
def test_exchanging_run_and_baseline_exchanges_what_is_said(ours, theirs, width):
    """Signs turn, sides change places, and the verdict stays."""
    run, baseline = (column(curve.values(), curve.keys()) for curve in (ours, theirs))
    if not ours.keys() & theirs.keys():
        with pytest.raises(Refused, match="no common step"):
            compare(run, baseline, window=width)
        return
    one = compare(run, baseline, run, baseline, window=width)
    other = compare(baseline, run, baseline, run, window=width)
    np.testing.assert_array_equal(one.windows.mean_differences, -other.windows.mean_differences)
    assert one.mean_difference == (other.mean_difference if other.mean_difference is None else -other.mean_difference)
    assert repr((one.run, one.baseline)) == repr((other.baseline, other.run))
    assert (one.max_abs_window, one.full_windows) == (other.max_abs_window, other.full_windows)
    if one.parting:
        mean = one.parting.mean_difference
        assert replace(one.parting, mean_difference=None if mean is None else -mean) == other.parting


def test_the_reported_mean_is_the_judged_one():
    """The window's mean in the parting is the very number of the table."""
    found = compare(column([1.1] * 3), column([1.0] * 3), window=3, margin=0.05)
    assert found.parting.mean_difference == found.windows.mean_differences[0]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        pytest.param("window", 0, id="window-0"),
        pytest.param("window", -1, id="window-negative"),
        pytest.param("margin", -0.1, id="margin-negative"),
        pytest.param("margin", NAN, id="margin-nan"),
        pytest.param("margin", INF, id="margin-infinite"),
        pytest.param("spike_factor", 0.0, id="factor-0"),
        pytest.param("spike_factor", NAN, id="factor-nan"),
    ],
)
def test_settings_that_mean_nothing_are_refused(setting, value):
    """The error names the setting."""
    with pytest.raises(Invalid) as caught:
        compare(column(FLAT), column(FLAT), **{setting: value})
    assert caught.value.field == {"spike_factor": "spikeFactor"}.get(setting, setting)


def test_no_step_in_common_names_both_ranges():
    """The error says what each of them recorded."""
    with pytest.raises(Refused, match=r"the run has steps 1 to 4, the baseline steps 11 to 14"):
        compare(column(FLAT), column(FLAT, [11, 12, 13, 14]))
