"""Which rows go through the model together, and what they are as tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from akka_optimize.trainer.engines import Tokens
from akka_optimize.trainer.engines.decoder.tokens import PAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from akka_optimize.records import Division


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one pass, padded on the right to the longest.

    `ids` int64 (B, T): what the model reads. `at` int64 (N,): which of the B T positions have a trained token next.
    `targets` int64 (N,): those tokens.
    """

    ids: Tensor
    at: Tensor
    targets: Tensor

    def on(self, device: torch.device) -> Batch:
        """The same on a device."""
        return Batch(self.ids.to(device), self.at.to(device), self.targets.to(device))


def cut(row: Tokens, length: int) -> Tokens:
    """The row's first `length` tokens."""
    return Tokens(row.ids[:length], row.trained[:length])


def targets(row: Tokens) -> int:
    """How many tokens of the row the loss is over: those trained, but for the first, which nothing comes before."""
    return int(np.count_nonzero(row.trained[1:]))


def batch(rows: Sequence[Tokens]) -> Batch:
    """Put rows together, in their order."""
    longest = max(len(row.ids) for row in rows)
    ids = np.full((len(rows), longest), PAD, np.int64)
    trained = np.zeros((len(rows), longest), bool)
    for i, row in enumerate(rows):
        ids[i, : len(row.ids)] = row.ids
        trained[i, : len(row.trained)] = row.trained
    wanted = trained[:, 1:]
    at = np.flatnonzero(wanted)
    return Batch(torch.from_numpy(ids[:, :-1].copy()), torch.from_numpy(at), torch.from_numpy(ids[:, 1:][wanted]))


def passes(rows: Sequence[Tokens], division: Division, device: int = 0) -> list[Sequence[Tokens]]:
    """The passes of one update's rows that `device` carries out, in order.

    Pass after pass takes the next `devices x sequences_per_pass` rows, shared out among the devices in order.
    """
    size = division.sequences_per_pass
    first = [(p * division.devices + device) * size for p in range(division.accumulation)]
    return [rows[at : at + size] for at in first]
