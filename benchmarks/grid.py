"""A grid expanded, and grids refused, as ratios within one run.

    python benchmarks/grid.py [POINTS]

Expanding 10^5 points into nested change documents is measured against a comprehension of nested dict literals over
`itertools.product`, both with the garbage collector off. Refusing a grid of 10^9 points is measured against refusing
one of 51, as whole processes of the installed console script and, for their core alone, in this one.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

from akka_optimize.core import grid
from akka_optimize.errors import Exhausted
from akka_optimize.records import Axis

ROUNDS = 15
PROCESS_ROUNDS = 31
AT_MOST_LITERALS = 3.0
AT_MOST_SMALL = 1.1
RATE, RANK, SEED = "hyperparams.optimizer.learningRate", "hyperparams.lora.rank", "seed"
SCRIPT = Path(sys.executable).with_name("akka-optimize")
ARGUMENTS = ("training", "runs", "sweep", "parent", "--snapshot", "s", "--steps", "1", "--force")
NINE = (
    "seed", "maxSeqLength", RANK, "hyperparams.lora.alpha", RATE, "hyperparams.optimizer.weightDecay",
    "hyperparams.optimizer.warmupSteps", "hyperparams.optimizer.maxGradNorm", "hyperparams.training.sequencesPerUpdate",
)  # fmt: skip


def seconds(task: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def ratio(rounds: int, task: Callable[[], object], base: Callable[[], object]) -> tuple[float, float]:
    """The median time of `task`, and the median over alternating rounds of its ratio to `base`."""
    task(), base()
    pairs = [(seconds(task), seconds(base)) for _ in range(rounds)]
    return statistics.median(one for one, _ in pairs), statistics.median(one / other for one, other in pairs)


def expanding(points: int) -> bool:
    """Print how the expansion compares; True within the limit."""
    rates, ranks = [1e-6 * (i + 1) for i in range(points // 1000)], list(range(1, 51))
    axes = [Axis(RATE, tuple(rates)), Axis(RANK, tuple(ranks)), Axis(SEED, tuple(range(20)))]

    def literals() -> object:
        return [
            {"hyperparams": {"optimizer": {"learningRate": a}, "lora": {"rank": b}}, "seed": c}
            for a, b, c in product(rates, ranks, range(20))
        ]

    assert grid.documents(axes) == literals()
    gc.disable()
    took, found = ratio(ROUNDS, lambda: grid.documents(axes), literals)
    flat, found_flat = ratio(ROUNDS, lambda: grid.points(axes), literals)
    gc.enable()
    count = f"{grid.size(axes):,}"
    print(f"{count} nested documents: {took * 1e3:.0f} ms, {found:.2f} x literals (at most {AT_MOST_LITERALS})")
    print(f"{count} flat points: {flat * 1e3:.0f} ms, {found_flat:.2f} x the same literals")
    return found <= AT_MOST_LITERALS


def refusing() -> bool:
    """Print how the refusals compare; True within the limit."""
    huge = [Axis(path, tuple(range(1, 11))) for path in NINE]
    small = [Axis(SEED, tuple(range(51)))]
    took, found = ratio(1001, lambda: refuse(huge), lambda: refuse(small))
    print(f"counting {grid.size(huge):,} points: {took * 1e6:.1f} us, {found:.2f} x counting 51")
    with tempfile.TemporaryDirectory() as folder:
        commands = [sweeping(Path(folder) / f"{grid.size(axes)}.yaml", axes) for axes in (huge, small)]
        took, found = ratio(PROCESS_ROUNDS, commands[0], commands[1])
    print(f"refusing them, whole process: {took * 1e3:.0f} ms, {found:.2f} x refusing 51 (at most {AT_MOST_SMALL})")
    return found <= AT_MOST_SMALL


def refuse(axes: list[Axis]) -> None:
    """Have a grid refused for its size."""
    try:
        grid.require_room(axes)
    except Exhausted:
        return
    raise AssertionError("the grid was not refused")


def sweeping(path: Path, axes: list[Axis]) -> Callable[[], object]:
    """A command that is refused for the size of its grid, before any trainer is asked."""
    path.write_text("axes:\n" + "".join(f"- path: {axis.path}\n  values: {list(axis.values)}\n" for axis in axes))
    command = [str(SCRIPT), *ARGUMENTS, "--grid", str(path)]

    def carry_out() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert f"make {grid.size(axes)} points" in done.stderr, done.stderr

    return carry_out


def main(points: int = 100_000) -> bool:
    """Print the ratios; True when each is within its limit."""
    return all([expanding(points), refusing()])


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
