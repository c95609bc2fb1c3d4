"""What it costs to start, as ratios to `python -c "import click"`.

The commands alternate, round by round, so that whatever else the machine does meets all of them; a round gives one
ratio for each command, and the median over the rounds counts. The program is the installed console script.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 31
SCRIPT = Path(sys.executable).with_name("akka-optimize")
BASE = [sys.executable, "-c", "import click"]
LIMITS = {
    "--version": 1.5,
    "training runs compare --help": 2.0,
}


# An installed package has its bytecode beside it; a setting that keeps it from being written is not what is measured.
ENVIRON = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def seconds(command: list[str]) -> float:
    """Wall time of one process, from start to end."""
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=ENVIRON)
    return time.perf_counter() - begun


def main() -> int:
    """Measure, print a line for each command, and fail when one is over its limit."""
    commands = {name: [str(SCRIPT), *name.split()] for name in LIMITS}
    for command in (BASE, *commands.values()):
        seconds(command)
    bases: list[float] = []
    ratios: dict[str, list[float]] = {name: [] for name in LIMITS}
    for _ in range(ROUNDS):
        base = seconds(BASE)
        bases.append(base)
        for name, command in commands.items():
            ratios[name].append(seconds(command) / base)
    print(f"import click: {statistics.median(bases) * 1000:.0f} ms")
    over = 0
    for name, limit in LIMITS.items():
        ratio = statistics.median(ratios[name])
        over += ratio > limit
        print(f"{name}: {ratio:.2f} x (limit {limit}){'  OVER' if ratio > limit else ''}")
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
