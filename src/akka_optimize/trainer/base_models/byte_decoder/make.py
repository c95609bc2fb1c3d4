"""Make the base model: invent a text, pretrain a decoder on it, write its weights.

    OMP_NUM_THREADS=1 python -m akka_optimize.trainer.base_models.byte_decoder.make WEIGHTS.safetensors [STEPS]

Takes about five minutes of one core that has bfloat16 instructions, about ten without, and torch 2.9 for its Muon
optimizer. The bits depend on torch and on the processor, so the shipped file, not this script, is what a revision
names.

Rows are packed to 256 tokens, and for the last fifth of the steps to 512, so that every position is trained. Matrices
are trained by Muon, the embedding and the norms by AdamW.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from akka_optimize.trainer.base_models.byte_decoder import prose, tasks
from akka_optimize.trainer.engines.decoder import tokens
from akka_optimize.trainer.engines.decoder.model import Decoder, Shape, save

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 20250101
STEPS = 800
TOKENS = 4096  # in one step
PEAK_MUON = 0.02
PEAK_ADAMW = 0.004


def documents(seed: int) -> Iterator[np.ndarray]:
    """Token ids, uint16, of one invented document after another, without end: chats mostly, some prose."""
    draw = random.Random(seed)
    while True:
        if draw.random() < 0.75:
            yield tokens.encode(tasks.row(draw)).ids
        else:
            text = prose.paragraph(draw, draw.randrange(1, 6))
            if draw.random() < 0.2:
                text = prose.typos(draw, text.lower(), 0.03)
            body = np.frombuffer(text.encode(), np.uint8).astype(np.uint16)
            yield np.concatenate(([tokens.BEGIN], body, [tokens.END])).astype(np.uint16)


def packed(stream: Iterator[np.ndarray], rows: int, length: int) -> torch.Tensor:
    """The stream's next documents, end to end, int64 (rows, length + 1); the last one is cut."""
    held: list[np.ndarray] = []
    need = rows * (length + 1)
    while need > 0:
        held.append(next(stream))
        need -= len(held[-1])
    flat = np.concatenate(held)[: rows * (length + 1)]
    return torch.from_numpy(flat.astype(np.int64)).view(rows, length + 1)


def fresh(seed: int) -> Decoder:
    """A decoder whose every block starts as the identity."""
    torch.manual_seed(seed)
    model = Decoder(Shape())
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            scale = 0.02 if name.startswith("embedding") else weight.shape[1] ** -0.5
            torch.nn.init.normal_(weight, std=0.0 if name.endswith(("out.weight", "down.weight")) else scale)
    return model


def rate(step: int, steps: int) -> float:
    """The share of the peak rate at `step` of `steps`: up within 20 steps, level, and down over the last 60%."""
    return min(1.0, (step + 1) / 20, max(0.02, (steps - step) / (0.6 * steps)))


def pretrain(steps: int) -> Decoder:
    """A decoder trained on `steps` x 4096 invented tokens."""
    model = fresh(SEED)
    stream = documents(SEED)
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and not n.startswith("embedding")]
    others = [p for n, p in model.named_parameters() if p.dim() == 1 or n.startswith("embedding")]
    muon = torch.optim.Muon(matrices, lr=PEAK_MUON, weight_decay=0.01, adjust_lr_fn="match_rms_adamw")
    adamw = torch.optim.AdamW(others, lr=PEAK_ADAMW, betas=(0.9, 0.98), weight_decay=0.0)
    began = time.perf_counter()
    for step in range(steps):
        length = 256 if step < 0.8 * steps else 512
        rows = packed(stream, TOKENS // length, length)
        muon.param_groups[0]["lr"] = PEAK_MUON * rate(step, steps)
        adamw.param_groups[0]["lr"] = PEAK_ADAMW * rate(step, steps)
        with torch.autocast("cpu", torch.bfloat16):
            states = model(rows[:, :-1]).flatten(0, 1)
        loss = F.cross_entropy(model.logits(states), rows[:, 1:].flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        muon.step()  # type: ignore[no-untyped-call]
        adamw.step()
        model.zero_grad(set_to_none=True)
        if step % 20 == 0 or step == steps - 1:
            print(f"{step + 1:5d}  loss {loss.item():.4f}  {time.perf_counter() - began:6.1f} s", flush=True)
    return model


def main(arguments: list[str]) -> None:
    """Pretrain, and write the weights to the path given."""
    from akka_optimize.trainer.base_models import digest

    torch.set_num_threads(1)
    path = Path(arguments[0])
    model = pretrain(int(arguments[1]) if len(arguments) > 1 else STEPS)
    save(model, path)
    print(f"{path}: {sum(p.numel() for p in model.parameters()):,} parameters, revision {digest(path)}")


if __name__ == "__main__":
    main(sys.argv[1:])
