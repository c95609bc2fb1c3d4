"""What `training runs sweep` costs as a whole process, as ratios within one run.

* a dry run of 50 points, against one of 2;
* the submission of 50 points, its worker's start included, against their dry run.

Every submission branches from a snapshot of its own, as no more than 50 runs can branch from one.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support import life

from akka_optimize.trainer import claims, start
from akka_optimize.trainer.worker.attempt import Attempt
from akka_optimize.trainer.worker.drain import Stop

SCRIPT = str(Path(sys.executable).with_name("akka-optimize"))
ROUNDS = 11
ROWS = 2000
POINTS, FEW = 50, 2
LIMITS = {"dry run": 1.5, "submission": 1.5}


def make_home(folder: Path) -> list[str]:
    """A home with a run `parent` of the arithmetic engine, and the ids of the snapshots that it saved."""
    home, catalog = life.open_home(folder, rows=ROWS)
    settings = {
        "name": "parent",
        "config.hyperparams.training.maxSteps": ROUNDS + 1,
        "execution.saveEvery": 1,
        "execution.keepAdapters": ROUNDS + 1,
    }
    with catalog:
        start.start(catalog, home, life.descriptor(settings))
        taken = claims.take(catalog, home)
        assert taken is not None
        with taken[1]:
            Attempt(catalog, home, taken[0], Stop()).carry_out()
        return [snapshot.snapshot_id for snapshot in catalog.snapshots(taken[0].run_id).items]


def make_grid(path: Path, points: int) -> str:
    """A grid of learning rates and ranks."""
    rates = [round(1e-5 * (rate + 1), 8) for rate in range(points // 2)]
    axes = {"hyperparams.optimizer.learningRate": rates, "hyperparams.lora.rank": [8, 16]}
    path.write_text(json.dumps({"axes": [{"path": name, "values": values} for name, values in axes.items()]}))
    return str(path)


def sweep(home: Path, snapshot: str, grid: str, *options: str) -> tuple[float, dict[str, object]]:
    """Seconds that the command takes, and what it prints."""
    command = [SCRIPT, "--trainer-url", f"local:{home}", "training", "runs", "sweep", "parent"]
    command += ["--snapshot", snapshot, "--steps", "1", "--grid", grid, "--force", "-o", "json-compact", *options]
    begun = time.perf_counter()
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    return time.perf_counter() - begun, json.loads(done.stdout)


def drained(home: Path) -> None:
    """Cancel what waits, and see the worker leave, so that it disturbs no later round."""
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

    with Catalog.open(Home.open(home)) as catalog:
        for run in catalog.runs(phase="QUEUED", limit=POINTS).items:
            catalog.request_cancel(run.run_id)
    while workers(home):
        time.sleep(0.05)


def workers(home: Path) -> bool:
    """Is a worker of this home there still?"""
    listed = subprocess.run(["ps", "-ww", "-eo", "args="], check=True, capture_output=True, text=True).stdout
    return any(f"akka_optimize.trainer.worker {home}" in line for line in listed.splitlines())


def main() -> bool:
    """Print the ratios; True when each is within its limit."""
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        first, *snapshots = make_home(Path(folder))
        few, many = (make_grid(Path(folder) / f"{points}.json", points) for points in (FEW, POINTS))
        sweep(home, first, few, "--dry-run")
        for snapshot in snapshots[:ROUNDS]:
            small, _ = sweep(home, snapshot, few, "--dry-run")
            dry, _ = sweep(home, snapshot, many, "--dry-run")
            submission, printed = sweep(home, snapshot, many)
            assert printed["fan"]["new"] == POINTS, printed["fan"]
            rounds.append((small, dry, submission))
            drained(home)
    ratios = {
        "dry run": statistics.median(dry / small for small, dry, _ in rounds),
        "submission": statistics.median(submission / dry for _, dry, submission in rounds),
    }
    times = [f"{statistics.median(each) * 1e3:.0f} ms" for each in zip(*rounds, strict=True)]
    print(f"a dry run of {FEW} points takes {times[0]}, of {POINTS} {times[1]}; their submission {times[2]}")
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f} x (at most {LIMITS[name]})")
    return all(ratio <= LIMITS[name] for name, ratio in ratios.items())


if __name__ == "__main__":
    sys.exit(not main())
