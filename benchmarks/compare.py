"""What `training runs compare` costs as a whole process on two runs of a million steps, as ratios in one run.

* `--window 1000 --jq .parting`, against the same command on two runs of 100 steps; and its peak memory.
* `--jq .parting` with the default window, which makes a document of 100 000 rows, against the same with `--window 1000`
  and, on top, json.dumps of that document and the jq binding on its text.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jq
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.catalog import make_run

from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

SCRIPT = str(Path(sys.executable).with_name("akka-optimize"))
ROUNDS = 9
LIMITS = {"whole process": 2.0, "default window": 1.3}
PEAK_MB = 400


def make_home(folder: Path) -> None:
    """Two finished runs of 100 steps, and two of a million, with losses and gradient norms."""
    home = Home.open(folder)
    catalog = Catalog.open(home)
    rng = np.random.default_rng(0)
    for size, steps in (("small", 100), ("large", 1_000_000)):
        loss = rng.normal(2.0, 0.1, steps)
        for name in ("a", "b"):
            norms = rng.lognormal(0.0, 0.3, steps)
            make_run(catalog, name=f"{size}-{name}", loss=loss + rng.normal(0, 0.001, steps), grad_norm=norms)
    catalog.close()


def seconds(folder: Path, size: str, *options: str) -> float:
    """Wall time of one process, from start to end."""
    command = [SCRIPT, "training", "runs", "compare", f"{size}-a", f"{size}-b", *options]
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env={**os.environ, "TRAINER_URL": f"local:{folder}"})
    return time.perf_counter() - begun


def document_seconds(document: object) -> float:
    """What json.dumps and jq alone take for the document."""
    begun = time.perf_counter()
    jq.compile(".parting").input_text(json.dumps(document)).text()
    return time.perf_counter() - begun


def main() -> int:
    """Measure, print a line for each ratio, and fail when one is over its limit."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "home"
        make_home(folder)
        wide = ("--window", "1000", "--jq", ".parting")
        seconds(folder, "large", *wide)
        whole, default = [], []
        document = json.loads(
            subprocess.run(
                [SCRIPT, "training", "runs", "compare", "large-a", "large-b", "-o", "json-compact"],
                stdout=subprocess.PIPE,
                check=True,
                env={**os.environ, "TRAINER_URL": f"local:{folder}"},
            ).stdout
        )
        for _ in range(ROUNDS):
            large = seconds(folder, "large", *wide)
            whole.append(large / seconds(folder, "small", *wide))
            default.append(seconds(folder, "large", "--jq", ".parting") / (large + document_seconds(document)))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    found = {"whole process": statistics.median(whole), "default window": statistics.median(default)}
    for name, ratio in found.items():
        print(f"{name}: {ratio:.2f} (limit {LIMITS[name]})")
    print(f"peak memory of any process: {peak:.0f} MB (limit {PEAK_MB})")
    return int(any(found[name] > limit for name, limit in LIMITS.items()) or peak > PEAK_MB)


if __name__ == "__main__":
    sys.exit(main())
