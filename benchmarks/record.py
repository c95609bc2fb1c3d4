"""What a run's record costs: training with everything on record beside the same loop with nothing.

    OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python benchmarks/record.py [ROUNDS]

Prints one JSON object. A run of the built-in engine, 40 updates with a save every ten, from the claim to its closed
folder: run.json, curves, snapshots, summary, checksums, catalog. Beside it the bare torch loop over the same rows, with
the validations that the run makes and no record: at most 1.05 x. Then the arithmetic engine at a millisecond an update,
1000 updates with a save every hundred, beside its own steps: at most 1.5 x. Sides take turns, medians are compared.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from step import ROWS, bare, seconds, session

from akka_optimize.records import Document
from akka_optimize.trainer import claims, datasets, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.engines import Job, engine
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.worker.attempt import Attempt
from akka_optimize.trainer.worker.drain import Stop

UPDATES, EVERY, AT_MOST = 40, 10, 1.05
QUICK_UPDATES, QUICK_EVERY, QUICK_AT_MOST = 1000, 100, 1.5
NAME = "bench"


def descriptor(model: str, updates: int, every: int) -> Document:
    """A run of so many updates, with a save after every so many."""
    training = {"epochs": 1e6, "maxSteps": updates}
    hyperparams = {"optimizer": {"learningRate": 1e-3}, "training": training}
    return {
        "kind": "run",
        "workload": NAME,
        "baseModel": model,
        "config": {"dataset": NAME, "hyperparams": hyperparams},
        "execution": {"saveEvery": every},
    }


def recorded(catalog: Catalog, home: Home, document: Document) -> float:
    """How long a queued run takes from its claim to its end, in seconds."""
    run_id = start.start(catalog, home, document).run_id

    def carry_out() -> None:
        taken = claims.take(catalog, home)
        assert taken is not None
        with taken[1]:
            Attempt(catalog, home, taken[0], Stop()).carry_out()

    took = seconds(carry_out)
    assert catalog.run(run_id).phase == "COMPLETED", catalog.run(run_id).failure_reason
    return took


def torch_loop(rows: list[Document]) -> None:
    """The same updates and validations, from loading the model on; nothing is kept."""
    twin = session(rows, UPDATES)
    for step, _ in enumerate(bare(twin, UPDATES), 1):
        if step % EVERY == 0:
            twin.validate()


def quick_loop(job: Job) -> None:
    """The arithmetic engine's steps, and its validations."""
    made_up = engine("arithmetic").start(job)
    for step in made_up.steps():
        if step.step % QUICK_EVERY == 0:
            made_up.validate()


def ratio(rounds: int, ours: Callable[[], float], bare_loop: Callable[[], object]) -> dict[str, float]:
    """Both medians in seconds, and that of the ratios, after a round that does not count."""
    pairs = []
    for turn in range(rounds + 1):
        if turn % 2:  # neither side is always first
            mine, other = ours(), seconds(bare_loop)
        else:
            other, mine = seconds(bare_loop), ours()
        pairs.append((mine, other))
    counted = pairs[1:]
    return {
        "recordedSeconds": statistics.median(mine for mine, _ in counted),
        "bareSeconds": statistics.median(other for _, other in counted),
        "ratio": statistics.median(mine / other for mine, other in counted),
    }


def measured(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """The ratios of both engines in a home of their own."""
    home = Home.open(folder / "home")
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    with Catalog.open(home) as catalog:
        catalog.add_workload(NAME)
        stored = datasets.store(home, ROWS)
        catalog.add_dataset(stored.hash, example_count=stored.example_count, size_bytes=stored.size_bytes, name=NAME)
        real = descriptor("akka/byte-decoder-1m", UPDATES, EVERY)
        quick = descriptor("akka/arithmetic", QUICK_UPDATES, QUICK_EVERY)
        run = start.start(catalog, home, quick)
        taken = claims.take(catalog, home)
        assert taken is not None
        with taken[1]:
            Attempt(catalog, home, taken[0], Stop()).carry_out()
        twin = session(rows, QUICK_UPDATES).job
        job = Job(run.run_id, run.plan, run.division, rows, twin.base_model)
        return {
            "builtIn": ratio(rounds, lambda: recorded(catalog, home, real), lambda: torch_loop(rows)),
            "arithmetic": ratio(rounds, lambda: recorded(catalog, home, quick), lambda: quick_loop(job)),
        }


def main(arguments: list[str]) -> None:
    """Measure, print, and fail when a target is missed."""
    os.environ["AKKA_ARITHMETIC_STEP_SECONDS"] = "0.001"
    rounds = int(arguments[0]) if arguments else 7
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), rounds)
    print(json.dumps(found | {"targets": {"builtIn": AT_MOST, "arithmetic": QUICK_AT_MOST}, "rounds": rounds}))
    if found["builtIn"]["ratio"] > AT_MOST or found["arithmetic"]["ratio"] > QUICK_AT_MOST:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
