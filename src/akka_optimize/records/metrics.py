"""Curves: as they were recorded, and side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Column:
    """One metric: `values[i]`, float64, was recorded at `steps[i]`, int64, by attempt `attempts[i]`, int64.

    Ordered by attempt, then step; a step that two attempts recorded is there twice.
    """

    steps: np.ndarray
    values: np.ndarray
    attempts: np.ndarray


@dataclass(frozen=True, slots=True)
class Metrics:
    """A run's curves by name: `loss`, `gradNorm`, `clipped`, `learningRate`, `tokens`, `seconds`, `validationLoss`."""

    columns: dict[str, Column]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Blocks of neighbouring recorded steps, int64 (blocks,) each: first and last step, and how many steps."""

    first_steps: np.ndarray
    last_steps: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, slots=True)
class NonFinite:
    """Blocks of neighbouring recorded steps at which `metric` was `value`: `NaN`, `Infinity` or `-Infinity`."""

    metric: str
    value: str
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class MetricsTable:
    """A run's curves side by side: for each of `steps`, int64 (n,), the latest attempt's value of every metric.

    `columns[name]` is float64 (n,), and holds something only where `recorded[name]`, bool (n,), says so. `replaced`
    counts the values that a later attempt recorded again.
    """

    run_id: str
    steps: np.ndarray
    columns: dict[str, np.ndarray]
    recorded: dict[str, np.ndarray]
    non_finite: tuple[NonFinite, ...]
    replaced: int
