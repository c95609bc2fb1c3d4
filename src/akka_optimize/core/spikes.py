"""Steps whose gradient norm stands out of its own run."""

from __future__ import annotations

import numpy as np


def spikes(norms: np.ndarray, median: float | None, factor: float) -> np.ndarray:
    r"""Indices, int64 (spikes,), at which `norms`, float64 (n,), are a spike.

    $$ g_t \ge f \cdot \mathrm{median}(g) \quad\text{and}\quad g_t > 0 $$

    Infinity is a spike whatever the median, and when there is none; NaN never is.

    >>> spikes(np.array([1.0, 10.0, np.nan, np.inf]), 1.0, 10.0)
    array([1, 3])
    """
    threshold = np.inf if median is None else factor * median
    if threshold > 0:
        return np.flatnonzero(norms >= threshold)
    return np.flatnonzero(norms > 0)
