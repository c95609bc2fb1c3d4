"""What the next queued run waits for: the time from one run's end to the next one's, each of a single update.

    OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python benchmarks/next_run.py [CHILDREN]

A fan of children of one update each waits in a home, and one worker process carries it out. The gap between the ends
of two neighbours is all there is between one run's end and the next one's first update, that update itself, its save
and the closing of its record included; the median over the fan counts, against importing torch in a process of its
own. The limit is 1.2: a worker that began anew for each run would be over it. The trainer's home is a temporary folder.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from akka_optimize.records import Document, FanRequest, Run
from akka_optimize.trainer import branches, datasets, slots, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

ROWS = Path(__file__).parents[1] / "examples" / "support-triage" / "train.jsonl"
MODELS = {"arithmetic": "akka/arithmetic", "decoder": "akka/byte-decoder-1m"}
LIMIT = 1.2
IMPORT = "import time; began = time.perf_counter(); import torch; print(time.perf_counter() - began)"
RATES = "hyperparams.optimizer.learningRate"


def import_seconds() -> float:
    """How long a new process takes to import torch, Python's own start left out."""
    return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)


def descriptor(model: str) -> Document:
    """A run of one update."""
    training = {"maxSteps": 1, "validationShare": 0.0}
    config = {"dataset": "rows", "hyperparams": {"training": training}}
    return {"kind": "run", "workload": "bench", "baseModel": model, "config": config}


def work(home: Home) -> None:
    """Carry out the queue in one worker process."""
    command = [sys.executable, "-m", "akka_optimize.trainer.worker", str(home.path)]
    subprocess.run(command, check=True, env=os.environ | {"AKKA_ARITHMETIC_STEP_SECONDS": "0"})


def fan(catalog: Catalog, home: Home, model: str, children: int) -> list[Run]:
    """A parent, and the children that were carried out after it, in order."""
    parent = start.start(catalog, home, descriptor(model))
    work(home)
    (snapshot,) = catalog.snapshots(parent.run_id).items
    asked = FanRequest(
        parent=parent.run_id,
        snapshot=snapshot.snapshot_id,
        steps=1,
        restore="weights",
        submission_id=f"bench-{parent.run_id}",
        points=tuple({RATES: 1e-4 * (i + 1)} for i in range(children)),
    )
    made = branches.submit(catalog, home, asked)
    work(home)
    return [catalog.run(point.child_run_id) for point in made.points]


def gaps(runs: list[Run]) -> list[float]:
    """Seconds between the ends of neighbours."""
    assert all(run.phase == "COMPLETED" for run in runs)
    ends = [datetime.fromisoformat(run.ended_at or "").timestamp() for run in runs]
    return [after - before for before, after in pairwise(ends)]


def main(arguments: list[str]) -> int:
    """Measure, print one JSON object, and fail when the limit is missed."""
    children = int(arguments[0]) if arguments else 8
    result: Document = {"limit": LIMIT, "children": children}
    imports = []
    with tempfile.TemporaryDirectory() as folder:
        home = Home.open(Path(folder) / "home")
        with Catalog.open(home) as catalog:
            datasets.register(home, catalog, ROWS, name="rows")
            catalog.add_workload("bench")
            assert slots.count(home) == 1
            for name, model in MODELS.items():
                imports += [import_seconds() for _ in range(2)]
                result[f"{name}Seconds"] = statistics.median(gaps(fan(catalog, home, model, children)))
                imports += [import_seconds() for _ in range(2)]
    result["importTorchSeconds"] = statistics.median(imports[1:])  # the first may have read the disk
    ratios = {f"{name}Ratio": result[f"{name}Seconds"] / result["importTorchSeconds"] for name in MODELS}
    print(json.dumps(result | ratios))
    return int(max(ratios.values()) > LIMIT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
