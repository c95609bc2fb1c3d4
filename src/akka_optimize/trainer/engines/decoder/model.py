"""A decoder-only transformer over bytes.

Pre-normalised, with rotary positions, squared-ReLU feed-forward layers, no biases, and the embedding tied to the
output. Padding goes to the right of a row: attention looks only to the left, so no real token ever sees it.

Shapes in comments: B rows, T tokens, D width, H heads, V vocabulary.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from akka_optimize.trainer.engines import METADATA
from akka_optimize.trainer.engines.decoder.tokens import VOCABULARY

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a decoder."""

    context: int = 512
    width: int = 128
    layers: int = 4
    heads: int = 4
    hidden: int = 576
    vocabulary: int = VOCABULARY


class Attention(nn.Module):
    """Causal self-attention with rotary positions."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)

    def forward(self, x: Tensor, turns: Tensor) -> Tensor:
        """`x` (B, T, D) and the positions' `turns` -> (B, T, D)."""
        rows, length, width = x.shape
        qkv = self.qkv(x).view(rows, length, 3, self.heads, -1)  # (B, T, 3, H, D/H)
        turned, v = qkv.split((2, 1), dim=2)
        q, k = rotate(turned, turns).unbind(2)  # (B, T, H, D/H)
        y = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.squeeze(2).transpose(1, 2), is_causal=True
        )  # (B, H, T, D/H)
        return self.out(y.transpose(1, 2).reshape(rows, length, width))  # type: ignore[no-any-return]


class FeedForward(nn.Module):
    """Two linear layers with a squared ReLU between them."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.up = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """`x` (B, T, D) -> (B, T, D)."""
        return self.down(F.relu(self.up(x)).square())  # type: ignore[no-any-return]


class Block(nn.Module):
    """Attention, then the feed-forward layers, each added to the stream."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(shape.width, bias=False)
        self.attention = Attention(shape)
        self.before_feed_forward = nn.LayerNorm(shape.width, bias=False)
        self.feed_forward = FeedForward(shape)

    def forward(self, x: Tensor, turns: Tensor) -> Tensor:
        """`x` (B, T, D) and the positions' `turns` -> (B, T, D)."""
        x = x + self.attention(self.before_attention(x), turns)
        return x + self.feed_forward(self.before_feed_forward(x))  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Token ids in, hidden states out; `logits` turns the states that matter into scores."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.last = nn.LayerNorm(shape.width, bias=False)
        self.turns = turns(shape.context, shape.width // shape.heads)

    def forward(self, ids: Tensor) -> Tensor:
        """`ids` int64 (B, T), T up to the context -> normalised hidden states (B, T, D)."""
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.turns[: ids.shape[1]])
        return self.last(x)  # type: ignore[no-any-return]

    def logits(self, states: Tensor) -> Tensor:
        """`states` (N, D) -> scores, float32 (N, V)."""
        return F.linear(states.float(), self.embedding.weight.float())


def turns(context: int, size: int) -> Tensor:
    r"""What turns pair $i$ of a head of `size` at position $p$: $e^{j p / 10000^{2i/size}}$.

    complex64 (context, size / 2).
    """
    rates = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angles = torch.arange(context, dtype=torch.float64)[:, None] * rates
    return torch.polar(torch.ones_like(angles), angles).to(torch.complex64)


def rotate(x: Tensor, turns: Tensor) -> Tensor:
    """Turn each pair (x[2i], x[2i + 1]) of the last dimension as its position says; `x` (B, T, …, size)."""
    pairs = torch.view_as_complex(x.float().view(*x.shape[:-1], -1, 2))  # (B, T, …, size / 2)
    by = turns.view(len(turns), *[1] * (pairs.dim() - 3), -1)
    return torch.view_as_real(pairs * by).flatten(-2).to(x.dtype)


def place(model: Decoder, device: torch.device) -> None:
    """Move a decoder, what it looks positions up in included, to a device."""
    model.to(device)
    model.turns = model.turns.to(device)


def save(model: Decoder, path: Path) -> None:
    """Write a decoder's weights with its shape as safetensors; equal weights give equal bytes."""
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, path, metadata={METADATA: json.dumps(asdict(model.shape), sort_keys=True)})


def load(path: Path) -> Decoder:
    """The decoder that `save` wrote. Raises OSError, or SafetensorError for a file that is none."""
    with safe_open(path, framework="pt") as file:
        model = Decoder(Shape(**json.loads(file.metadata()[METADATA])))
        model.load_state_dict({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    return model
