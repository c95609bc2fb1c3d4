"""The comparison's core against straight-line numpy and pandas, as ratios within one process.

    python benchmarks/core.py [STEPS]

Two runs of a million steps. Straight-line numpy computes the same numbers without looking at anything else: which
steps were recorded, by which attempt, what is short or not finite. Rounds alternate, so that a busy machine slows all
sides alike, and the medians are compared.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from akka_optimize.core.comparison import compare
from akka_optimize.records import Column

ROUNDS = 41
PANDAS_ROUNDS = 5
WIDTHS = (10, 1000)
FACTOR = 10.0
AT_MOST_NUMPY = 1.3
AT_LEAST_PANDAS = 3.0


class Recorded(NamedTuple):
    """One run's curves, each float64 (steps,)."""

    loss: Column
    norm: Column


def recorded(seed: int, steps: int) -> Recorded:
    """A made-up run: a falling loss, and norms with a spike now and then. Its columns share no memory."""
    draw = np.random.default_rng(seed)
    loss = 2.0 / np.sqrt(np.arange(1, steps + 1)) + 0.05 * draw.standard_normal(steps)
    norm = np.exp(0.5 * draw.standard_normal(steps))
    return Recorded(_column(loss), _column(norm))


def _column(values: np.ndarray) -> Column:
    steps = np.arange(1, len(values) + 1)
    return Column(steps, values, np.broadcast_to(np.int64(1), len(values)))


def straight_numpy(run: Recorded, baseline: Recorded, width: int) -> tuple[object, ...]:
    """One subtraction, three row sums, four finite checks; per run a partition, a maximum and a comparison."""
    loss, other = run.loss.values, baseline.loss.values
    difference = loss - other
    rows = len(loss) // width * width
    sums = [curve[:rows].reshape(-1, width).sum(axis=1) for curve in (loss, other, difference)]
    norms = (run.norm.values, baseline.norm.values)
    finite = [np.isfinite(curve).all() for curve in (loss, other, *norms)]
    spikes = []
    for norm in norms:
        middle = len(norm) // 2
        parted = np.partition(norm, middle)
        median = (parted[:middle].max() + parted[middle]) / 2
        spikes.append(norm >= FACTOR * median)
    return sums, finite, spikes


def in_pandas(run: Recorded, baseline: Recorded, width: int) -> tuple[object, ...]:
    """The same question as a data analyst would ask it: join on the step, group, aggregate."""
    import pandas as pd

    frames = [
        pd.DataFrame({"step": one.loss.steps, "loss": one.loss.values, "norm": one.norm.values})
        for one in (run, baseline)
    ]
    both = frames[0].merge(frames[1], on="step", suffixes=("_run", "_baseline"))
    both["difference"] = both["loss_run"] - both["loss_baseline"]
    groups = both.groupby(both.index // width)
    means = groups[["loss_run", "loss_baseline", "difference"]].mean()
    spans = groups["step"].agg(["first", "last", "size"])
    spikes = [frame[frame["norm"] >= FACTOR * frame["norm"].median()] for frame in frames]
    return means, spans, spikes


def seconds(task: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def medians(rounds: int, *tasks: Callable[[], object]) -> list[float]:
    """The median time of each task, the tasks taking turns."""
    for task in tasks:
        task()
    times = [[seconds(task) for task in tasks] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def main(steps: int = 1_000_000) -> bool:
    """Print the ratios; True when each is on the right side of its bound."""
    run, baseline = recorded(1, steps), recorded(2, steps)
    gc.disable()
    held = True
    print(f"two runs of {steps:,} steps")
    for width in WIDTHS:

        def ours(width: int = width) -> object:
            return compare(run.loss, baseline.loss, run.norm, baseline.norm, window=width, spike_factor=FACTOR)

        def numpy(width: int = width) -> object:
            return straight_numpy(run, baseline, width)

        def pandas(width: int = width) -> object:
            return in_pandas(run, baseline, width)

        core, straight = medians(ROUNDS, ours, numpy)
        again, frame = medians(PANDAS_ROUNDS, ours, pandas)
        held &= core <= AT_MOST_NUMPY * straight and frame >= AT_LEAST_PANDAS * again
        print(
            f"window {width:>4}: core {core * 1e3:6.1f} ms, straight-line numpy {straight * 1e3:6.1f} ms, "
            f"ratio {core / straight:.2f} (at most {AT_MOST_NUMPY}); "
            f"pandas {frame * 1e3:6.1f} ms, {frame / again:.1f} x the core (at least {AT_LEAST_PANDAS:.0f})"
        )
    return held


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
