"""The learning rate of each update."""

from __future__ import annotations

import math


def rate(step: int, *, steps: int, peak: float, warmup: int, kind: str) -> float:
    r"""The learning rate that update `step`, from 1 to `steps`, is made with.

    1. Warm-up: updates 1 … W climb in equal parts, `peak * step / (W + 1)`; update W + 1 is the first at the peak.
    2. `constant`: the peak from there on.
    3. `linear`: $peak (1 - p)$ with $p = (step - W - 1) / (steps - W)$, so the last update has `peak / (steps - W)`.
    4. `cosine`: $peak (1 + \cos \pi p) / 2$ with the same $p$.

    No update has the rate 0. A warm-up as long as the run never reaches the peak.

    >>> [rate(t, steps=6, peak=4.0, warmup=2, kind="linear") for t in range(1, 7)]
    [1.3333333333333333, 2.6666666666666665, 4.0, 3.0, 2.0, 1.0]
    """
    if step <= warmup:
        return peak * step / (warmup + 1)
    if kind == "constant":
        return peak
    p = (step - warmup - 1) / (steps - warmup)
    if kind == "linear":
        return peak * (1 - p)
    return peak * (1 + math.cos(math.pi * p)) / 2
