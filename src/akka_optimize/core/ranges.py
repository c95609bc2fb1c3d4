"""Blocks of neighbouring entries, kept as arrays of firsts, lasts and counts."""

from __future__ import annotations

import numpy as np

from akka_optimize.records import Ranges


def ranges(steps: np.ndarray, chosen: np.ndarray) -> Ranges:
    """The maximal blocks of `chosen`, bool (n,), as ranges of `steps`, int64 (n,) ascending.

    Neighbours are neighbours in `steps`, whatever the distance: a run that recorded every 10th step and chose 10, 20
    and 30 has one block.

    >>> ranges(np.array([1, 2, 3, 7]), np.array([True, False, True, True])).first_steps
    array([1, 3])
    """
    turns = np.flatnonzero(np.diff(chosen, prepend=False, append=False))  # block k is turns[2k] … turns[2k + 1] - 1
    starts, ends = turns[::2], turns[1::2]
    return Ranges(steps[starts], steps[ends - 1], ends - starts)


def no_ranges() -> Ranges:
    """Not one block."""
    none = np.empty(0, np.int64)
    return Ranges(none, none, none)
