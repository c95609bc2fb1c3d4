"""One record per update."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from akka_optimize.trainer.engines import Step
from akka_optimize.trainer.engines.decoder.batches import batch, passes, targets
from akka_optimize.trainer.engines.decoder.group import Alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torch import Tensor

    from akka_optimize.records import Division
    from akka_optimize.trainer.engines import Tokens
    from akka_optimize.trainer.engines.decoder.batches import Batch
    from akka_optimize.trainer.engines.decoder.group import Group
    from akka_optimize.trainer.engines.decoder.model import Decoder


def train(
    model: Decoder,
    updates: Iterable[tuple[int, float, Sequence[Tokens]]],
    optimizer: torch.optim.Optimizer,
    division: Division,
    max_grad_norm: float,
    group: Group | None = None,
) -> Iterator[Step]:
    r"""Make each update and yield its record; `updates` gives step number, learning rate and rows.

    The loss of an update is $\sum_i c_i / n$ over its $n$ trained tokens, in whichever passes: each pass adds
    $\sum c_i / n$ to the gradient, with $n$ counted over all rows beforehand. With more devices, a `group` adds up
    their gradients and losses; $n$ needs no message, since every device knows all rows, and each of them then clips
    and steps alike. Raises what the group does.
    """
    group = group or Alone()
    trained = [p for settings in optimizer.param_groups for p in settings["params"]]
    for step, rate, rows in updates:
        began = time.perf_counter()
        for settings in optimizer.param_groups:
            settings["lr"] = rate
        count = sum(map(targets, rows))
        total = 0.0
        model.train()
        for part in passes(rows, division, group.rank):
            loss = summed(model, batch(part))
            (loss / count).backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        total = group.add(total, [p.grad for p in trained if p.grad is not None])
        norm, clipped = clip(trained, max_grad_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield Step(step, total / count, norm, clipped, rate, count, time.perf_counter() - began)


def summed(model: Decoder, rows: Batch) -> Tensor:
    """Cross-entropy in nats, summed over the trained tokens of a pass; float32 scalar."""
    rows = rows.on(model.embedding.weight.device)
    states = model(rows.ids).flatten(0, 1).index_select(0, rows.at)  # (N, D): scores only where they are needed
    return F.cross_entropy(model.logits(states), rows.targets, reduction="sum")


def clip(parameters: Sequence[Tensor], limit: float) -> tuple[float, bool]:
    """Scale the gradients down to a Euclidean norm of `limit` (0 = never); the norm before, and whether it was done.

    A NaN norm exceeds nothing, so it is never clipped; an infinite one is, which leaves NaN.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.nn.utils.get_total_norm(gradients).item()
    clipped = 0 < limit < norm
    if clipped:
        torch._foreach_mul_(gradients, limit / norm)
    return norm, clipped


def mean_loss(model: Decoder, rows: Sequence[Tokens], size: int = 16) -> float:
    """Token-weighted mean cross-entropy over `rows`, `size` at a time, dropout off, drawing nothing."""
    model.eval()
    with torch.no_grad():
        total = sum(summed(model, batch(rows[i : i + size])).item() for i in range(0, len(rows), size))
    return total / sum(map(targets, rows))
