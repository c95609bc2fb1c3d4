"""What the windows promise: the definition, the laws of a mean difference, and numbers that are not finite."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws

from akka_optimize.core.windows import overall, windows

INF, NAN = math.inf, math.nan
EPS = np.finfo(float).eps
LOSSES = st.floats(-1e6, 1e6)
PAIRS = st.lists(st.tuples(LOSSES, LOSSES), min_size=1, max_size=60)
ANY = st.one_of(LOSSES, st.sampled_from([NAN, INF, -INF]))
ANY_PAIRS = st.lists(st.tuples(ANY, ANY), min_size=1, max_size=60)
DYADIC = st.integers(-(2**20), 2**20).map(lambda n: n / 2**10)
WIDTHS = st.integers(1, 13)


def sides(pairs):
    """The two curves as arrays."""
    return tuple(np.array(side, float) for side in zip(*pairs, strict=True))


def subtracted(run, baseline):
    """The difference, whatever it is."""
    with np.errstate(invalid="ignore", over="ignore"):
        return run - baseline


def cut(pairs, width):
    """The windows over `pairs` of losses at the steps 1, 2, …"""
    run, baseline = sides(pairs)
    return windows(np.arange(1, len(pairs) + 1), run, baseline, subtracted(run, baseline), width)


def exact_mean(values):
    """The correctly rounded sum, divided; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def naive(pairs, width):
    """The definition, one group at a time: (first, last, steps, full, mean difference or None)."""
    rows = []
    for start in range(0, len(pairs), width):
        group = pairs[start : start + width]
        both = [(a, b) for a, b in group if math.isfinite(a) and math.isfinite(b)]
        one_sided = any(math.isfinite(a) != math.isfinite(b) for a, b in group)
        span = (start + 1, start + len(group))
        if one_sided and len(group) == width:
            rows.append((*span, width, True, None))
        else:
            rows.append((*span, len(both), len(both) == width, exact_mean([a - b for a, b in both])))
    return rows


@laws
@given(ANY_PAIRS, WIDTHS)
def test_windows_agree_with_the_definition(pairs, width):
    """Spans, counts and fullness exactly, means within the rounding of a sum, whatever is not finite."""
    found, expected = cut(pairs, width), naive(pairs, width)
    columns = zip(*expected, strict=True)
    for ours, theirs in zip((found.first_steps, found.last_steps, found.steps, found.full), columns, strict=False):
        assert ours.tolist() == list(theirs)
    for mean, (*_, exact) in zip(found.mean_differences.tolist(), expected, strict=True):
        assert math.isnan(mean) if exact is None else mean == pytest.approx(exact, rel=1e-9, abs=1e-9)


@laws
@given(PAIRS, WIDTHS)
def test_mean_losses_are_the_means_of_each_side(pairs, width):
    """Each window shows both losses beside their difference."""
    found = cut(pairs, width)
    for side, means in enumerate((found.run_losses, found.baseline_losses)):
        groups = [[pair[side] for pair in pairs[k : k + width]] for k in range(0, len(pairs), width)]
        assert means.tolist() == pytest.approx([exact_mean(group) for group in groups], rel=1e-9, abs=1e-9)


@laws
@given(ANY_PAIRS, WIDTHS)
def test_exchanging_run_and_baseline_turns_every_sign(pairs, width):
    """Bit for bit: neither side is favoured by the arithmetic."""
    ours, theirs = cut(pairs, width), cut([(b, a) for a, b in pairs], width)
    np.testing.assert_array_equal(ours.mean_differences, -theirs.mean_differences)
    np.testing.assert_array_equal(ours.run_losses, theirs.baseline_losses)
    np.testing.assert_array_equal(ours.full, theirs.full)


@laws
@given(st.lists(st.tuples(DYADIC, DYADIC), min_size=1, max_size=60), DYADIC, WIDTHS)
def test_a_dyadic_constant_added_to_both_changes_no_bit(pairs, constant, width):
    """Where every sum is exact, a shift of both curves is not seen at all."""
    shifted = [(a + constant, b + constant) for a, b in pairs]
    np.testing.assert_array_equal(cut(shifted, width).mean_differences, cut(pairs, width).mean_differences)


@laws
@given(PAIRS, LOSSES, WIDTHS)
def test_any_constant_added_to_both_changes_no_more_than_its_rounding(pairs, constant, width):
    """The bound: each of the sums a + c and b + c is off by half an ulp, and each mean by its own rounding."""
    shifted = [(a + constant, b + constant) for a, b in pairs]
    size = max(abs(number) for pair in pairs for number in pair) + abs(constant)
    change = cut(shifted, width).mean_differences - cut(pairs, width).mean_differences
    assert np.abs(change).max() <= 4 * (width + 1) * EPS * size


@laws
@given(PAIRS)
def test_windows_of_one_step_are_the_differences(pairs):
    """Bit for bit."""
    assert cut(pairs, 1).mean_differences.tolist() == [a - b for a, b in pairs]


@laws
@given(st.data(), WIDTHS, st.integers(1, 4))
def test_windows_of_two_pieces_are_those_of_the_whole(data, width, groups):
    """What a window says depends on its own steps alone, so curves may be cut at any window's end."""
    some = data.draw(st.lists(st.tuples(ANY, ANY), min_size=width * groups, max_size=width * groups))
    more = data.draw(ANY_PAIRS)
    whole, pieces = cut(some + more, width), (cut(some, width), cut(more, width))
    for name in ("mean_differences", "run_losses", "baseline_losses", "full", "steps"):
        joined = np.concatenate([getattr(piece, name) for piece in pieces])
        np.testing.assert_array_equal(getattr(whole, name), joined)


def test_one_step_of_1e17_stays_in_its_window():
    """Differences of prefix sums would lose every later window to rounding."""
    pairs = [(1.125, 1.0)] * 40
    pairs[4] = (1e17, 1.0)
    found = cut(pairs, 10).mean_differences.tolist()
    assert found[0] == pytest.approx(1e16)
    assert found[1:] == [0.125] * 3


def test_a_long_window_keeps_its_digits():
    """A million times a tenth is summed in pairs, not one after the other."""
    tenths, n = np.full(10**6, 0.1), 10**6
    found = windows(np.arange(n), tenths, 0 * tenths, tenths, n).mean_differences
    assert abs(found[0] - 0.1) <= 4 * EPS


@pytest.mark.parametrize(
    ("pairs", "width", "steps", "full", "means"),
    [
        pytest.param([(NAN, 1.0), (2.0, 1.0)], 2, [2], [True], [None], id="one-nan-on-one-side-is-full-without-mean"),
        pytest.param([(NAN, NAN), (2.0, 1.0)], 2, [1], [False], [1.0], id="one-nan-on-both-sides-is-left-out"),
        pytest.param([(NAN, INF), (2.0, 1.0)], 2, [1], [False], [1.0], id="not-finite-either-way-is-left-out"),
        pytest.param([(NAN, NAN), (NAN, NAN)], 2, [0], [False], [None], id="all-nan-on-both-sides"),
        pytest.param([(NAN, 1.0), (NAN, 2.0)], 2, [2], [True], [None], id="all-nan-on-one-side"),
        pytest.param([(NAN, NAN), (NAN, 1.0)], 2, [2], [True], [None], id="one-sided-whatever-else-it-holds"),
        pytest.param([(INF, INF)], 1, [0], [False], [None], id="both-infinite"),
        pytest.param([(NAN, 1.0), (2.0, 1.0)], 3, [1], [False], [1.0], id="one-sided-in-a-short-group-is-left-out"),
        pytest.param([(2.0, 1.0)] * 2, 10**12, [2], [False], [1.0], id="fewer-steps-than-a-window"),
        pytest.param([(2.0, 1.0)] * 3, 2, [2, 1], [True, False], [1.0, 1.0], id="a-short-last-group"),
        pytest.param([(1e308, 0.0)] * 4, 4, [4], [True], [1e308], id="a-sum-that-would-overflow"),
        pytest.param([(1e308, -1e308), (-1e308, 1e308)], 2, [2], [True], [0.0], id="differences-that-overflow"),
        pytest.param([(1e308, -1e308), (1e308, 1e308)], 2, [2], [True], [1e308], id="one-difference-that-overflows"),
        pytest.param([(1e308, -1e308)] * 2, 2, [2], [True], [INF], id="a-mean-beyond-every-float"),
    ],
)
def test_windows_at_the_edges(pairs, width, steps, full, means):
    """A loss that is not finite never disappears into a mean, and finite ones always have one."""
    found = cut(pairs, width)
    assert (found.steps.tolist(), found.full.tolist()) == (steps, full)
    assert [None if math.isnan(mean) else mean for mean in found.mean_differences.tolist()] == means


def test_mean_losses_where_one_side_is_not_finite():
    """The side that is not finite has no mean; the other keeps the mean of all that it recorded."""
    found = cut([(NAN, 1.0), (2.0, 3.0)], 2)
    assert math.isnan(found.run_losses[0])
    assert found.baseline_losses.tolist() == [2.0]


@laws
@given(ANY_PAIRS)
def test_overall_is_the_mean_of_what_is_finite(pairs):
    """NaN and infinity are left out of it, and noticed."""
    run, baseline = sides(pairs)
    mean, both = overall(run, baseline, subtracted(run, baseline))
    kept = [math.isfinite(a) and math.isfinite(b) for a, b in pairs]
    exact = exact_mean([a - b for (a, b), there in zip(pairs, kept, strict=True) if there])
    assert mean is exact is None or mean == pytest.approx(exact, rel=1e-9, abs=1e-9)
    assert both is None if all(kept) else both.tolist() == kept


HUGE = st.floats(allow_nan=False, allow_infinity=False)


@laws
@given(st.lists(st.tuples(HUGE, HUGE), min_size=1, max_size=20))
def test_finite_losses_have_every_mean_that_a_float_holds(pairs):
    """Whatever their size: no sum on the way overflows, and a difference too large for a float is not left out."""
    run, baseline = sides(pairs)
    found = cut(pairs, len(pairs))
    means = (found.run_losses[0], found.baseline_losses[0], found.mean_differences[0])
    mean, _ = overall(run, baseline, subtracted(run, baseline))
    parts = [*zip(*pairs, strict=True), [Fraction(a) - Fraction(b) for a, b in pairs]]
    largest = Fraction(max(abs(number) for pair in pairs for number in pair))
    for ours, values in zip((*means, mean), (*parts, parts[2]), strict=True):
        exact = sum(map(Fraction, values)) / len(pairs)
        if abs(exact) <= sys.float_info.max * (1 - 64 * Fraction(EPS)):
            assert math.isfinite(ours)
            assert abs(Fraction(float(ours)) - exact) <= largest * Fraction(EPS) * 64
        elif abs(exact) > sys.float_info.max * (1 + 64 * Fraction(EPS)):
            assert ours is None or ours == math.copysign(INF, exact)
