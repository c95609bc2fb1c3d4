"""What looking up runs costs with 100 000 of them in the catalog, against 100, through a client over the service.

A page of the list as `runs list` asks for it, the same of one phase, the last page, and a run by a prefix of its id.
"""

from __future__ import annotations

import secrets
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import update

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.catalog import new_run
from support.service_process import serving

from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.trainer.catalog import Catalog, insertion, schema
from akka_optimize.trainer.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY = 100, 100_000
BATCH = 5000
PAGE = 50
ROUNDS, CALLS = 9, 10
PREFIX_DIGITS = 10
LIMIT = 2.0


def make_home(folder: Path, runs: int) -> list[str]:
    """A home with so many runs that have ended; their ids."""
    ids: list[str] = []
    with Catalog.open(Home.open(folder)) as catalog:
        model = new_run(catalog)
        for begin in range(0, runs, BATCH):
            batch = [secrets.token_hex(8) for _ in range(min(BATCH, runs - begin))]
            new = [replace(model, run_id=id, name=f"run-{id}", folder=f"runs/{id}") for id in batch]
            with catalog._database.write() as connection:
                insertion.insert_rows(connection, new, "2026-01-01T00:00:00.000Z")
                connection.execute(update(schema.runs).values(phase="COMPLETED"))
            ids += batch
    return ids


def questions(runs: int, ids: list[str]) -> dict[str, Callable[[Trainer], object]]:
    """What is asked of a catalog."""
    chosen = iter(secrets.SystemRandom().choices(ids, k=2 * ROUNDS * CALLS + 1))
    return {
        "a page of runs": lambda trainer: trainer.runs(limit=PAGE),
        "a page of one phase": lambda trainer: trainer.runs(phase="COMPLETED", limit=PAGE),
        "the last page": lambda trainer: trainer.runs(limit=PAGE, offset=runs - PAGE),
        "a run by prefix": lambda trainer: trainer.run(next(chosen)[:PREFIX_DIGITS]),
    }


def seconds(trainer: Trainer, question: Callable[[Trainer], object]) -> float:
    """The median of some calls in a row."""
    taken = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        question(trainer)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def client(host: str) -> Trainer:
    """A client with a connection of its own."""
    return Trainer(GrpcTransport(host, tls=False, address=f"http://{host}"), timeout=60)


def main() -> bool:
    """Print the ratios; True when each is within the limit."""
    within = True
    with tempfile.TemporaryDirectory() as scratch:
        few, many = Path(scratch) / "few", Path(scratch) / "many"
        asked_few = questions(FEW, make_home(few, FEW))
        asked_many = questions(MANY, make_home(many, MANY))
        with serving(few) as small, serving(many) as large:
            here, there = client(small), client(large)
            for name, question in asked_many.items():
                seconds(there, question)
                rounds = [(seconds(there, question), seconds(here, asked_few[name])) for _ in range(ROUNDS)]
                ratio = statistics.median(big / base for big, base in rounds)
                big, base = (statistics.median(each) * 1e3 for each in zip(*rounds, strict=True))
                print(f"{name:20} {big:6.2f} ms of {MANY}  against {base:6.2f} ms of {FEW}: ", end="")
                print(f"{ratio:.2f} x (at most {LIMIT:g})")
                within = within and ratio <= LIMIT
            here.close()
            there.close()
    return within


if __name__ == "__main__":
    sys.exit(not main())
