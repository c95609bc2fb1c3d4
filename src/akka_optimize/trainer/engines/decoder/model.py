"""A decoder-only transformer over bytes.

Pre-normalised, with rotary positions, squared-ReLU feed-forward layers, no biases, and the embedding tied to the output.
Padding goes to the right of a row: attention looks only to the left, so no real token ever sees it.

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

from akka_optimize.trainer.engines.decoder.tokens import VOCABULARY

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

METADATA = "akka-optimize"  # the one key: with more, safetensors would write them in any order


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

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """`x` (B, T, D) -> (B, T, D)."""
        rows, length, width = x.shape
        qkv = self.qkv(x).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # (3, B, H, T, D/H)
        turned = rotate(qkv[:2], cos, sin)  # queries and keys
        y = F.scaled_dot_product_attention(turned[0], turned[1], qkv[2], is_causal=True)  # (B, H, T, D/H)
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

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """`x` (B, T, D) -> (B, T, D)."""
        x = x + self.attention(self.before_attention(x), cos, sin)
        return x + self.feed_forward(self.before_feed_forward(x))  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Token ids in, hidden states out; `logits` turns the states that matter into scores."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.last = nn.LayerNorm(shape.width, bias=False)
        cos, sin = angles(shape.context, shape.width // shape.heads)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """`ids` int64 (B, T), T up to the context -> normalised hidden states (B, T, D)."""
        length = ids.shape[1]
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.cos[:length], self.sin[:length])
        return self.last(x)  # type: ignore[no-any-return]

    def logits(self, states: Tensor) -> Tensor:
        """`states` (N, D) -> scores, float32 (N, V)."""
        return F.linear(states.float(), self.embedding.weight.float())


def angles(context: int, size: int) -> tuple[Tensor, Tensor]:
    """Cosine and sine of each position's angles, (context, size / 2): pair i turns by position / 10000^(2 i / size)."""
    rates = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    turns = torch.arange(context, dtype=torch.float64)[:, None] * rates
    return turns.cos().float(), turns.sin().float()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn the pairs (x[i], x[i + size / 2]) of the last dimension by their position's angles; `x` (…, T, size)."""
    a, b = x.chunk(2, dim=-1)
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)


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
