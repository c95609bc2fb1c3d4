"""Mean losses and mean differences over consecutive groups of compared steps."""

from __future__ import annotations

import numpy as np

from akka_optimize.records import Windows


def windows(steps: np.ndarray, run: np.ndarray, baseline: np.ndarray, difference: np.ndarray, width: int) -> Windows:
    r"""Cut the compared steps into groups of `width`, the last one perhaps shorter, and average each group.

    $$ \bar d_k = \frac{1}{w} \sum_{i=kw}^{(k+1)w-1} (\ell_i - b_i) $$

    `steps`, int64 (n,), are the compared steps, n >= 1; `run`, `baseline` and their `difference` are float64 (n,).
    Each group is summed by itself: in differences of prefix sums one step of 1e17 would spoil every later window.

    A group of full width with a step that is finite on one side only is full, and its mean difference is NaN.
    In any other group the steps that are not finite on both sides are left out: it is not full, and NaN when nothing
    is left. Finite losses have the mean that float64 holds, whatever sum overflows on the way; infinite is a mean
    difference that is beyond float64 itself.
    """
    starts = np.arange(0, len(steps), width)
    ends = np.append(starts[1:], len(steps))
    sizes = ends - starts  # (windows,)
    with np.errstate(invalid="ignore", over="ignore"):
        totals = [np.add.reduceat(values, starts) for values in (run, baseline, difference)]
        found = Windows(steps[starts], steps[ends - 1], sizes, sizes == width, *(total / sizes for total in totals))
        bad = ~np.isfinite(totals[0]) | ~np.isfinite(totals[1]) | ~np.isfinite(totals[2])
        return _mended(found, bad, starts, run, baseline, width) if bad.any() else found


def _mended(
    found: Windows, bad: np.ndarray, starts: np.ndarray, run: np.ndarray, baseline: np.ndarray, width: int
) -> Windows:
    """`found` with the windows `bad`, bool (windows,), averaged again over what is finite in them."""
    on_run, on_baseline = np.isfinite(run), np.isfinite(baseline)  # (steps,)
    one_sided = np.logical_or.reduceat(on_run != on_baseline, starts) & found.full  # (windows,)
    both = on_run & on_baseline
    counts = np.add.reduceat(both.astype(np.int64), starts)
    divisors = counts.clip(min=1)
    scale = _scale(width)

    def average(values: np.ndarray, scaled: np.ndarray) -> np.ndarray:
        means, again = (np.add.reduceat(np.where(both, some, 0.0), starts) / divisors for some in (values, scaled))
        return np.where(counts > 0, np.where(np.isfinite(means), means, again / scale), np.nan)

    run_means, baseline_means = (average(side, side * scale) for side in (run, baseline))
    differences = average(run - baseline, run * scale - baseline * scale)
    raw = one_sided | ~bad
    return Windows(
        found.first_steps,
        found.last_steps,
        np.where(one_sided, width, counts),
        found.full & (one_sided | (counts == width)),
        np.where(raw, found.run_losses, run_means),
        np.where(raw, found.baseline_losses, baseline_means),
        np.where(one_sided, np.nan, np.where(bad, differences, found.mean_differences)),
    )


def overall(run: np.ndarray, baseline: np.ndarray, difference: np.ndarray) -> tuple[float | None, np.ndarray | None]:
    """The mean `difference` over the steps where both sides are finite, and which ones these are, bool (n,).

    All three are float64 (n,), n >= 1. No mean where there is no such step, or the mean is beyond float64. None for
    the steps where every difference is finite: so it is wherever their sum is, and nothing else has to be looked at.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(difference.sum())
        if np.isfinite(total):
            return total / len(difference), None
        both = np.isfinite(run) & np.isfinite(baseline)
        count = int(both.sum())
        if not count:
            return None, both
        mean = float(difference[both].mean())
        if not np.isfinite(mean):
            scale = _scale(count)
            mean = float((run[both] * scale - baseline[both] * scale).mean()) / scale
        return mean if np.isfinite(mean) else None, both


def _scale(count: int) -> float:
    """A power of two by which `count` differences of finite numbers can be shrunk so that their sum is finite too.

    Shrinking by it rounds nothing but what is too small to matter in a sum that would overflow.
    """
    return 2.0 ** -(count.bit_length() + 1)
