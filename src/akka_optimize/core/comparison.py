"""Two loss curves held against each other, step by step."""

from __future__ import annotations

import math

import numpy as np

from akka_optimize.core.alignment import Latest, align, contains, latest
from akka_optimize.core.medians import median
from akka_optimize.core.nonfinite import non_finite
from akka_optimize.core.parting import max_abs_window, parting
from akka_optimize.core.spikes import spikes
from akka_optimize.core.windows import overall, windows
from akka_optimize.errors import Invalid, Refused
from akka_optimize.records import Column, Curve, Curves, Ranges, Spikes

NO_COLUMN = Column(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


def compare(
    run_loss: Column,
    baseline_loss: Column,
    run_norm: Column | None = None,
    baseline_norm: Column | None = None,
    *,
    run_replaced: int = 0,
    baseline_replaced: int = 0,
    window: int = 10,
    margin: float = 0.03,
    spike_factor: float = 10.0,
) -> Curves:
    """Compare the losses of every step that both runs recorded, and look for spikes in all that each recorded.

    `run_norm` and `baseline_norm` are gradient norms before clipping; None when a run recorded none. `run_replaced` and
    `baseline_replaced`: steps that a dead attempt had recorded, and that are no longer in the curves.

    Raises Invalid for a window below 1, a margin below 0 or a spike factor not above 0, and Refused when the two have
    no step in common.
    """
    _check(window, margin, spike_factor)
    run, baseline = latest(run_loss, run_replaced), latest(baseline_loss, baseline_replaced)
    pairs = align(run, baseline)
    if not len(pairs.steps):
        raise Refused(
            f"the two runs recorded a loss at no common step: the run has {_extent(run)}, "
            f"the baseline {_extent(baseline)}"
        )
    with np.errstate(invalid="ignore", over="ignore"):
        difference = pairs.run - pairs.baseline
    mean, both = overall(pairs.run, pairs.baseline, difference)
    finite = both is None or bool(both.all())
    found = windows(pairs.steps, pairs.run, pairs.baseline, difference, window)
    return Curves(
        window,
        margin,
        spike_factor,
        len(pairs.steps),
        _curve(run, run_norm, pairs.only_run, pairs.steps, finite, spike_factor),
        _curve(baseline, baseline_norm, pairs.only_baseline, pairs.steps, finite, spike_factor),
        found,
        mean,
        max_abs_window(found),
        int(np.count_nonzero(found.full)),
        parting(found, margin),
        () if both is None else non_finite("loss", pairs.steps, np.where(both, difference, 0.0)),
    )


def _curve(loss: Latest, norm: Column | None, only: Ranges, compared: np.ndarray, finite: bool, factor: float) -> Curve:
    """One side of the comparison; `finite` says that its losses at the `compared` steps are known to be so."""
    norms = latest(norm or NO_COLUMN)
    bad_norms = non_finite("gradNorm", norms.steps, norms.values)
    bad_losses = () if finite and not len(only.counts) else non_finite("loss", loss.steps, loss.values)
    middle = median(norms.values[np.isfinite(norms.values)] if bad_norms else norms.values)
    at = spikes(norms.values, middle, factor)
    steps = norms.steps[at]
    return Curve(
        steps=len(loss.steps),
        first_step=int(loss.steps[0]),
        last_step=int(loss.steps[-1]),
        replaced=loss.replaced,
        only=only,
        norms=len(norms.steps),
        median_grad_norm=middle,
        spikes=Spikes(steps, norms.values[at], contains(compared, steps)),
        non_finite=bad_losses + bad_norms,
    )


def _check(window: int, margin: float, spike_factor: float) -> None:
    if window < 1:
        raise Invalid(f"window: {window} is not a number of steps; write 1 or more", field="window")
    if not 0 <= margin < math.inf:
        raise Invalid(f"margin: {margin} is no margin; write a finite number from 0 on", field="margin")
    if not 0 < spike_factor < math.inf:
        raise Invalid(f"spikeFactor: {spike_factor} is no factor; write a finite number above 0", field="spikeFactor")


def _extent(curve: Latest) -> str:
    return f"steps {curve.steps[0]} to {curve.steps[-1]}" if len(curve.steps) else "none"
