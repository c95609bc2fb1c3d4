"""The first window in which two curves go apart."""

from __future__ import annotations

import numpy as np

from akka_optimize.records import Parting, Windows


def parting(windows: Windows, margin: float) -> Parting | None:
    """The first full window whose mean difference is beyond `margin` in either direction, or is no finite number.

    Strictly beyond, and measured on the very float64 that is reported; None when there is no such window.
    """
    means = windows.mean_differences
    hits = windows.full & ~(np.abs(means) <= margin)  # a NaN is not within any margin
    first = int(hits.argmax()) if len(hits) else 0
    if not hits.any():
        return None
    mean = float(means[first])
    number = bool(np.isfinite(mean))
    return Parting(
        first,
        int(windows.first_steps[first]),
        int(windows.last_steps[first]),
        mean if number else None,
        "margin" if number else "nonFinite",
    )


def max_abs_window(windows: Windows) -> float | None:
    """The largest mean difference of the full windows in size, without its sign; None without a finite one."""
    means = np.abs(windows.mean_differences[windows.full & np.isfinite(windows.mean_differences)])
    return float(means.max()) if len(means) else None
