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
    is left.
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

    def average(values: np.ndarray) -> np.ndarray:
        kept = np.where(both, values, 0.0)
        means = np.add.reduceat(kept, starts) / divisors
        # The sum of finite numbers may overflow where the sum of their shares does not.
        shared = np.add.reduceat(kept / np.repeat(divisors, found.steps), starts)
        return np.where(counts > 0, np.where(np.isfinite(means), means, shared), np.nan)

    run_means, baseline_means, differences = average(run), average(baseline), average(run - baseline)
    differences = np.where(np.isfinite(differences), differences, run_means - baseline_means)
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


def overall(difference: np.ndarray) -> tuple[float | None, bool]:
    """The mean of the finite entries of `difference`, float64 (n,), None when there is none; and are all finite?

    A sum is finite only where every entry is, which makes a separate look at a million entries unnecessary.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(difference.sum())
        if np.isfinite(total):
            return total / len(difference), True
        finite = difference[np.isfinite(difference)]
        return float(finite.mean()) if len(finite) else None, False
