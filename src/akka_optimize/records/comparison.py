"""Two runs held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from akka_optimize.records.metrics import NonFinite, Ranges
    from akka_optimize.records.run import Run


@dataclass(frozen=True, slots=True)
class Difference:
    """One leaf in which two documents differ; a side that has no such leaf is None."""

    path: str
    run: Any
    baseline: Any


@dataclass(frozen=True, slots=True)
class EnvironmentDifference(Difference):
    """One leaf in which two environments differ; `moves_digits` where equal plans can part for it."""

    moves_digits: bool


@dataclass(frozen=True, slots=True)
class Spikes:
    """Steps with a spike in the gradient norm before clipping, (spikes,) each; `compared` is bool."""

    steps: np.ndarray
    grad_norms: np.ndarray
    compared: np.ndarray


@dataclass(frozen=True, slots=True)
class Curve:
    """What one of the two runs brought: its recorded losses and norms.

    `median_grad_norm` is over the finite norms, and None when there is none; `norms` counts the recorded ones.
    """

    steps: int
    first_step: int
    last_step: int
    replaced: int
    only: Ranges
    norms: int
    median_grad_norm: float | None
    spikes: Spikes
    non_finite: tuple[NonFinite, ...]


@dataclass(frozen=True, slots=True)
class Windows:
    """Consecutive groups of compared steps, (windows,) each; a mean that is no number is NaN or infinite.

    `steps` is how many steps the means are over; `full` tells whether the window can make the two part.
    """

    first_steps: np.ndarray
    last_steps: np.ndarray
    steps: np.ndarray
    full: np.ndarray
    run_losses: np.ndarray
    baseline_losses: np.ndarray
    mean_differences: np.ndarray


@dataclass(frozen=True, slots=True)
class Parting:
    """The first full window in which the two are further apart than the margin.

    Its `reason` is `margin`, or `nonFinite` where there is no finite mean difference: only one of the two was finite
    at some step, or they are further apart than float64 reaches.
    """

    window: int
    first_step: int
    last_step: int
    mean_difference: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Curves:
    """Two loss curves, compared step by step. A mean that does not exist is None.

    `non_finite` tells where both losses are finite and their difference is not.
    """

    window: int
    margin: float
    spike_factor: float
    compared: int
    run: Curve
    baseline: Curve
    windows: Windows
    mean_difference: float | None
    max_abs_window: float | None
    full_windows: int
    parting: Parting | None
    non_finite: tuple[NonFinite, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside its baseline: who they are, in what their plans and machines differ, and their curves.

    `aligned_steps` is False where the two started from different weights, so that equal numbers are not equal ages.
    """

    run: Run
    baseline: Run
    differences: tuple[Difference, ...]
    aligned_steps: bool
    environment: tuple[EnvironmentDifference, ...]
    curves: Curves
