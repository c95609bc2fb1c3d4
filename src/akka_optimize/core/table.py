"""Curves side by side, a row for each step."""

from __future__ import annotations

import numpy as np

from akka_optimize.core.alignment import latest
from akka_optimize.core.nonfinite import non_finite
from akka_optimize.records import Metrics, MetricsTable, NonFinite


def table(run_id: str, metrics: Metrics, *, newest: int | None = None) -> MetricsTable:
    """Lay a run's columns side by side, over every step that any of them has; or over the `newest` of these.

    Raises nothing: a run without metrics has a table without rows.
    """
    curves = {name: latest(column) for name, column in metrics.columns.items()}
    steps = np.unique(np.concatenate([np.empty(0, np.int64), *(curve.steps for curve in curves.values())]))
    steps = steps[len(steps) - newest :] if newest and newest < len(steps) else steps
    columns: dict[str, np.ndarray] = {}
    recorded: dict[str, np.ndarray] = {}
    bad: list[NonFinite] = []
    for name, curve in curves.items():
        kept = curve.steps >= steps[0]  # (n,)
        at = np.searchsorted(steps, curve.steps[kept])
        columns[name], recorded[name] = np.zeros(len(steps)), np.zeros(len(steps), bool)
        columns[name][at], recorded[name][at] = curve.values[kept], True
        bad += non_finite(name, curve.steps[kept], curve.values[kept])
    return MetricsTable(run_id, steps, columns, recorded, tuple(bad), sum(curve.replaced for curve in curves.values()))
