"""Checking a record of 1 GB against `sha256sum` over the same files, as a ratio.

    python benchmarks/verify.py [MEGABYTES]

The record has eight snapshots, each a third weights and two thirds training state, and a curve of 20 000 steps. Both
read from memory: the files have just been written. What Python takes to start is left out. Rounds alternate, so that a
busy machine slows both alike, and the medians are compared.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from akka_optimize.record.verify import verify
from akka_optimize.trainer.alone import Record

ROUNDS = 7
SNAPSHOTS = 8
STEPS = 20_000
MEGABYTE = 10**6
AT_LEAST = 0.7


def written(runs: Path, megabytes: int) -> Path:
    """A record of that size, with made-up tensors."""
    record = Record(runs, {"seed": 0}, seeds={"torch": 0}, name="large", purpose="to be checked")
    part = megabytes * MEGABYTE // SNAPSHOTS // 3
    for step in range(1, STEPS + 1):
        record.add(step, loss=1 / step, gradNorm=1.5 / step, seconds=0.085)
    for number in range(1, SNAPSHOTS + 1):
        state = {"moments": torch.randn(part * 2 // 4)}
        record.save(
            number,
            weights=lambda path: path.write_bytes(os.urandom(part)),
            training_state=lambda path, state=state: torch.save(state, path),  # type: ignore[misc]
        )
    return record.close()


def seconds(task: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def main(megabytes: int = 1000) -> bool:
    """Print the ratio; True when it is on the right side of its bound."""
    with tempfile.TemporaryDirectory() as folder:
        place = written(Path(folder), megabytes)
        files = [str(path) for path in sorted(place.rglob("*")) if path.is_file()]

        def ours() -> None:
            assert not verify(place).mismatches

        def theirs() -> None:
            subprocess.run(["sha256sum", *files], check=True, stdout=subprocess.DEVNULL)

        def bare() -> None:
            for file in files:
                with open(file, "rb") as stream:
                    hashlib.file_digest(stream, "sha256")

        times = [(seconds(ours), seconds(theirs), seconds(bare)) for _ in range(ROUNDS + 1)][1:]
    own, other, hashing = (statistics.median(column) for column in zip(*times, strict=True))
    print(
        f"{megabytes} MB in {len(files)} files: verify {own:.2f} s, sha256sum {other:.2f} s, "
        f"{other / own:.2f} x its speed (at least {AT_LEAST}); hashlib alone {hashing:.2f} s, {hashing / own:.2f} x"
    )
    return other / own >= AT_LEAST


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
