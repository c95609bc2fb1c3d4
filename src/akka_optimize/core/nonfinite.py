"""Where a metric was no finite number."""

from __future__ import annotations

import numpy as np

from akka_optimize.core.ranges import ranges
from akka_optimize.records import NonFinite


def non_finite(metric: str, steps: np.ndarray, values: np.ndarray) -> tuple[NonFinite, ...]:
    """What of `values`, float64 (n,), recorded at `steps`, int64 (n,) ascending, is NaN or infinite, in blocks."""
    if np.isfinite(values).all():
        return ()
    kinds = (("NaN", np.isnan(values)), ("Infinity", values == np.inf), ("-Infinity", values == -np.inf))
    return tuple(NonFinite(metric, value, ranges(steps, mask)) for value, mask in kinds if mask.any())
