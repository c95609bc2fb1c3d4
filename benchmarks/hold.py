"""How long saving a training state of 200 MB holds the step, against copying its tensors in memory.

    OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python benchmarks/hold.py [ROUNDS]

A real session whose adapter has a rank that makes adapter and both moments 200 MB. Two cases: the first save of a run,
which takes memory that was never touched, against clones; every later one, which takes the memory of the save before,
against copies into tensors that are there. Sides take turns; the ratio is the median over rounds, at most 1.5.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from akka_optimize.core import descriptor, plans
from akka_optimize.records import Division
from akka_optimize.trainer import base_models, engines
from akka_optimize.trainer.engines.decoder.session import DecoderSession
from akka_optimize.trainer.engines.decoder.state import Copies

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

sys.path.insert(0, str(Path(__file__).parent))
from step import DESCRIPTOR

RANK = 1920
TARGET = 1.5
ROWS = [{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}] * 9


def session() -> DecoderSession:
    """A run with an enormous adapter, after its first update."""
    model = base_models.find(DESCRIPTOR["baseModel"])
    config = descriptor.resolve(DESCRIPTOR).config
    config["hyperparams"]["lora"]["rank"] = RANK
    plan = plans.plan(config, dataset_hash="0" * 64, steps=1, base_model=model.repository, revision=model.revision)
    size = config["hyperparams"]["training"]["sequencesPerUpdate"]
    made = DecoderSession(engines.Job("bench", plan, Division(1, size, 1, size), ROWS, model))
    for _ in made.steps():
        pass
    return made


def tensors(run: DecoderSession) -> list[Tensor]:
    """All that a training state copies."""
    moments = [tensor for entry in run.optimizer.state.values() for tensor in entry.values()]
    return [parameter.detach() for parameter in run.adapter.values()] + moments


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes; what it made is let go afterwards."""
    began = time.perf_counter()
    made = call()
    took = time.perf_counter() - began
    del made
    return took


def main(rounds: int = 21) -> bool:
    """Print the ratios; True when both are within the limit."""
    run = session()
    live = tensors(run)
    there = [torch.empty_like(tensor) for tensor in live]
    print(f"training state of {sum(tensor.nbytes for tensor in live) / 1e6:.0f} MB in {len(live)} tensors")

    def first() -> object:
        run._copies = Copies(run.adapter, run.optimizer)
        return run.hold()

    def copied() -> None:
        for target, tensor in zip(there, live, strict=True):
            target.copy_(tensor)

    def cloned() -> list[Tensor]:
        return [tensor.clone() for tensor in live]

    within = True
    for name, ours, plain in (("a later save", run.hold, copied), ("the first save", first, cloned)):
        pairs = []
        for turn in range(rounds + 1):
            sides = (ours, plain) if turn % 2 else (plain, ours)
            took = {side: seconds(side) for side in sides}
            pairs.append((took[ours], took[plain]))
        ratio = statistics.median(a / b for a, b in pairs[1:])
        held, base = (statistics.median(side) * 1e3 for side in zip(*pairs[1:], strict=True))
        print(f"{name:15} holds {held:6.1f} ms, copying {base:6.1f} ms: {ratio:.2f} x (at most {TARGET:g})")
        within = within and ratio <= TARGET
    return within


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
