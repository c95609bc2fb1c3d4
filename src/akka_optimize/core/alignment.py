"""Which recorded values are held against each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from akka_optimize.core.ranges import no_ranges, ranges
from akka_optimize.errors import Internal
from akka_optimize.records import Column, Ranges


class Latest(NamedTuple):
    """A curve with each step once: `steps`, int64 (n,) strictly ascending, `values`, float64 (n,)."""

    steps: np.ndarray
    values: np.ndarray
    replaced: int  # values that gave way to those of a later attempt


class Alignment(NamedTuple):
    """The steps that two curves share, int64 (n,), the values of each there, and what only one has."""

    steps: np.ndarray
    run: np.ndarray
    baseline: np.ndarray
    only_run: Ranges
    only_baseline: Ranges


def latest(column: Column, replaced: int = 0) -> Latest:
    """Each step once, in step order; where a step was recorded twice, the latest attempt's value.

    A column is in attempt order, and the steps of one attempt ascend: with a single attempt there is nothing to
    replace, nothing to look at, and the arrays are handed back uncopied. `replaced` counts the values that are gone
    from the column already, as a run's curves are cut where another attempt at it goes on.
    """
    steps, values, attempts = column.steps, column.values, column.attempts
    if not len(steps) or attempts[0] == attempts[-1]:
        return Latest(steps, values, replaced)
    order = np.argsort(steps, kind="stable")  # of one step's values the latest attempt's comes last
    steps, values = steps[order], values[order]
    last = np.append(steps[1:] != steps[:-1], True)  # (recorded,)
    return Latest(steps[last], values[last], replaced + int(len(steps) - last.sum()))


def align(run: Latest, baseline: Latest) -> Alignment:
    """Pair the two curves step by step, and keep apart what only one of them recorded.

    Raises Internal when a curve's steps do not ascend: paired blindly, they would give a wrong answer.
    """
    equal = np.array_equal(run.steps, baseline.steps)
    for curve in (run,) if equal else (run, baseline):
        if not (curve.steps[1:] > curve.steps[:-1]).all():
            raise Internal("the trainer sent a curve whose steps do not ascend within one attempt")
    if equal:
        return Alignment(run.steps, run.values, baseline.values, no_ranges(), no_ranges())
    steps, in_run, in_baseline = np.intersect1d(run.steps, baseline.steps, assume_unique=True, return_indices=True)
    return Alignment(
        steps,
        run.values[in_run],
        baseline.values[in_baseline],
        ranges(run.steps, _absent(len(run.steps), in_run)),
        ranges(baseline.steps, _absent(len(baseline.steps), in_baseline)),
    )


def contains(steps: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Which of `some`, int64 (m,), are among `steps`, int64 (n,) ascending and n >= 1; bool (m,)."""
    places = np.searchsorted(steps, some).clip(max=len(steps) - 1)
    found: np.ndarray = steps[places] == some
    return found


def _absent(size: int, present: np.ndarray) -> np.ndarray:
    """True everywhere but at the indices `present`; bool (size,)."""
    mask = np.ones(size, bool)
    mask[present] = False
    return mask
