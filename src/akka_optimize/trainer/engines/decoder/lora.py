"""Low-rank adapters: all that a run trains.

A linear layer's output $W x$ becomes $W x + (alpha / rank) B A x$, with $A$ (rank, in) drawn from the seed and $B$
(out, rank) zero, so a fresh adapter changes nothing. Dropout acts on the adapter's input alone, in training alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

    from akka_optimize.trainer.engines.decoder.model import Decoder

TARGETS = ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.down")  # of every block


class AdaptedLinear(nn.Module):
    """A frozen linear layer with an adapter beside it; the adapter is float32 whatever the layer is."""

    def __init__(
        self, base: nn.Linear, rank: int, alpha: float, dropout: float, initial: torch.Generator, draws: torch.Generator
    ) -> None:
        super().__init__()
        self.base = base
        self.scale = alpha / rank
        self.dropout = dropout
        self.draws = draws
        bound = math.sqrt(1 / base.in_features)
        self.A = nn.Parameter(torch.empty(rank, base.in_features).uniform_(-bound, bound, generator=initial))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """`x` (…, in) -> (…, out)."""
        flat = x.flatten(0, -2)
        low = F.linear(self._dropped(flat), self.A.to(x.dtype))  # (N, rank)
        y = torch.addmm(F.linear(flat, self.base.weight), low, self.B.to(x.dtype).t(), alpha=self.scale)
        return y.view(*x.shape[:-1], -1)

    def _dropped(self, x: Tensor) -> Tensor:
        if not (self.training and self.dropout):
            return x
        keep = 1 - self.dropout
        return x * torch.empty_like(x).bernoulli_(keep, generator=self.draws).div_(keep)


def attach(
    model: Decoder, *, rank: int, alpha: float, dropout: float, initial: torch.Generator, draws: torch.Generator
) -> dict[str, nn.Parameter]:
    """Freeze `model`, put an adapter on every target, and return the adapters' parameters by name, in model order.

    `initial` draws every A; `draws` is what dropout will draw from.
    """
    model.requires_grad_(False)
    for block in model.blocks:
        for target in TARGETS:
            parent, name = target.split(".")
            owner = block.get_submodule(parent)
            base = owner.get_submodule(name)
            assert isinstance(base, nn.Linear)
            setattr(owner, name, AdaptedLinear(base, rank, alpha, dropout, initial, draws))
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
