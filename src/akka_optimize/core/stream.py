"""Which rows an update takes, as a function of the seed and the dataset alone.

Every order here sorts rows by a SHA-256 digest, so it is the same on every machine and under every version of any
library, and a row's place among the others never depends on which of them are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from akka_optimize.errors import Invalid


@dataclass(frozen=True, slots=True)
class Split:
    """The rows of a dataset by use, as ascending indices from 0; `skipped` counts the rows of neither use."""

    training: tuple[int, ...]
    held_out: tuple[int, ...]
    skipped: int


def hold_out_order(seed: int, rows: int) -> list[int]:
    """All row indices in the order in which they would be held out: by the digest of `SEED/hold-out/ROW`."""
    return _ordered(f"{seed}/hold-out", range(rows))


def epoch_order(seed: int, epoch: int, rows: int) -> list[int]:
    """All row indices in the order of one epoch, counted from 0: by the digest of `SEED/epoch/EPOCH/ROW`."""
    return _ordered(f"{seed}/epoch/{epoch}", range(rows))


def split(seed: int, eligible: Sequence[bool], share: float) -> Split:
    """Hold out the first `round(share * rows)` of the hold-out order, and skip what is not eligible on both sides.

    `eligible` has one entry per row of the dataset, (rows,). Which rows are held out does not depend on it.
    """
    rows = len(eligible)
    held_out = set(hold_out_order(seed, rows)[: round(share * rows)])
    usable = [row for row in range(rows) if eligible[row]]
    return Split(
        training=tuple(row for row in usable if row not in held_out),
        held_out=tuple(row for row in usable if row in held_out),
        skipped=rows - len(usable),
    )


class RowStream:
    """The endless stream of training rows: epoch after epoch, each in its own order.

    `training` are the rows that take part, out of the dataset's `rows`. Raises Invalid when there is none.
    """

    def __init__(self, seed: int, rows: int, training: Iterable[int]) -> None:
        self.seed = seed
        self.rows = rows
        self.training = tuple(sorted(training))  # (N,)
        if not self.training:
            raise Invalid("no row is left to train on", field="config.dataset")
        self._epoch = -1
        self._order: list[int] = []

    def update(self, t: int, size: int) -> list[int]:
        """The rows of update `t`, counted from 0: positions `t * size` to `(t + 1) * size - 1` of the stream."""
        taken: list[int] = []
        position, end = t * size, (t + 1) * size
        while position < end:
            epoch, offset = divmod(position, len(self.training))
            part = self._in_epoch(epoch)[offset : offset + end - position]
            taken += part
            position += len(part)
        return taken

    def _in_epoch(self, epoch: int) -> list[int]:
        """`epoch_order` without the rows that do not take part; the last one asked for is kept."""
        if epoch != self._epoch:
            self._epoch, self._order = epoch, _ordered(f"{self.seed}/epoch/{epoch}", self.training)
        return self._order


def _ordered(prefix: str, rows: Iterable[int]) -> list[int]:
    return sorted(rows, key=lambda row: sha256(f"{prefix}/{row}".encode()).digest())
