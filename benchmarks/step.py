"""What a step of the built-in engine costs beside the bare torch loop on the same batch.

    OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python benchmarks/step.py [ROUNDS] [ROWS.jsonl]

Prints one JSON object. Both sides take turns within one round, on the same rows, from the same weights; the ratio is
the median over rounds of engine / bare, and the target is at most 1.1. The bare loop is the model's forward pass,
backward, torch's own clipping and AdamW, on tensors made beforehand, recording nothing.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch.nn.functional as F

from akka_optimize.core import descriptor, plans
from akka_optimize.records import Division, Document
from akka_optimize.trainer import base_models, engines
from akka_optimize.trainer.engines.decoder.batches import batch
from akka_optimize.trainer.engines.decoder.session import DecoderSession

ROWS = Path(__file__).parents[1] / "examples" / "support-triage" / "train.jsonl"
TARGET = 1.1
DESCRIPTOR: Document = {
    "kind": "run",
    "workload": "bench",
    "baseModel": "akka/byte-decoder-1m",
    "config": {"dataset": "bench", "hyperparams": {"optimizer": {"learningRate": 1e-3}}},
}


def session(rows: list[Document], steps: int) -> DecoderSession:
    """A run of the default settings, ready for its first update."""
    model = base_models.find(DESCRIPTOR["baseModel"])
    config = descriptor.resolve(DESCRIPTOR).config
    plan = plans.plan(config, dataset_hash="0" * 64, steps=steps, base_model=model.repository, revision=model.revision)
    size = config["hyperparams"]["training"]["sequencesPerUpdate"]
    return DecoderSession(engines.Job("bench", plan, Division(1, size, 1, size), rows, model))


def bare(twin: DecoderSession, steps: int) -> Iterator[None]:
    """The same updates as `twin` would make, and nothing else."""
    size = twin.job.division.sequences_per_update
    batches = [batch([twin.rows[i] for i in twin.stream.update(t, size)]) for t in range(steps)]
    parameters = list(twin.adapter.values())
    twin.model.train()
    for rows in batches:
        states = twin.model(rows.ids).flatten(0, 1).index_select(0, rows.at)
        F.cross_entropy(twin.model.logits(states), rows.targets).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        twin.optimizer.step()
        twin.optimizer.zero_grad(set_to_none=True)
        yield


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main(arguments: list[str]) -> None:
    """Measure, print, and fail when the target is missed."""
    rounds = int(arguments[0]) if arguments else 40
    path = Path(arguments[1]) if len(arguments) > 1 else ROWS
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    steps = rounds + 3
    engine, plain = session(rows, steps).steps(), bare(session(rows, steps), steps)
    pairs = []
    for turn in range(steps):
        sides = (engine, plain) if turn % 2 else (plain, engine)  # neither side is always first
        took = {side: seconds(side.__next__) for side in sides}
        if turn >= 3:
            pairs.append((took[engine], took[plain]))
    ratio = statistics.median(a / b for a, b in pairs)
    result = {
        "engineSeconds": statistics.median(a for a, _ in pairs),
        "bareSeconds": statistics.median(b for _, b in pairs),
        "ratio": ratio,
        "target": TARGET,
        "rounds": rounds,
    }
    print(json.dumps(result))
    if ratio > TARGET:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
