"""What a comparison takes while 64 clients follow one run, against the same alone; and whether an event is lost.

The service, the followers and whoever trains are processes of their own. A comparison is of two runs of 10 000 steps,
by a client that keeps its connection. An event is lost when one follower got it and another did not, or when the last
one is not terminal.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.catalog import chunked, make_run, new_run
from support.service_process import serving

from akka_optimize.actions.training.runs.compare import compare
from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.trainer import claims
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

FOLLOWERS = 64
ROUNDS, COMPARISONS = 3, 200
STEPS, STEP_SECONDS = 12, 0.4
LIMIT = 3.0


def client(host: str) -> Trainer:
    """A client with a connection of its own."""
    return Trainer(GrpcTransport(host, tls=False, address=f"http://{host}"), timeout=60)


def make_home(folder: Path) -> None:
    """Two runs to compare."""
    rng = np.random.default_rng(0)
    with Catalog.open(Home.open(folder)) as catalog:
        for name in ("a", "b"):
            norms = rng.lognormal(0.0, 0.3, 10_000)
            make_run(catalog, name=name, loss=rng.normal(2.0, 0.1, 10_000), grad_norm=norms)


def train(folder: str) -> None:
    """Take a run and print its id; once stdin says so, carry it out, a step every now and then."""
    home = Home.open(Path(folder))
    with Catalog.open(home) as catalog:
        catalog.add_run(new_run(catalog, steps=STEPS))
        taken = claims.take(catalog, home)
        assert taken is not None
        run, lock = taken
        with lock:
            print(run.run_id, flush=True)
            sys.stdin.readline()
            catalog.set_phase(run.run_id, "TRAINING", only_from=("PREPARING",))
            for step in range(1, STEPS + 1):
                time.sleep(STEP_SECONDS)
                catalog.record(run.run_id, chunked(1, [step], {"loss": [1.0]}), observed_step=step, loss=1.0)
            catalog.set_phase(run.run_id, "COMPLETED", only_from=("TRAINING",))


def follow(host: str, run_id: str) -> None:
    """Follow a run with many clients at once, and print what each was told; "following" once all have begun."""
    told: list[list[tuple[str, int, bool]]] = [[] for _ in range(FOLLOWERS)]
    begun = threading.Semaphore(0)

    def listen(events: list[tuple[str, int, bool]]) -> None:
        trainer = client(host)
        for event in trainer.watch_run(run_id):
            if not events:
                begun.release()
            events.append((event.phase, event.step, event.terminal))
        trainer.close()

    threads = [threading.Thread(target=listen, args=(events,)) for events in told]
    for thread in threads:
        thread.start()
    for _ in threads:
        begun.acquire()
    print("following", flush=True)
    for thread in threads:
        thread.join()
    print(json.dumps(told))


def lost(told: list[list[list[object]]]) -> int:
    """Events that somebody got and another follower did not, and ends that are missing."""
    known = {tuple(event) for events in told for event in events}
    missing = sum(len(known - {tuple(event) for event in events}) for events in told)
    return missing + sum(not events[-1][2] for events in told)


def compare_seconds(trainer: Trainer) -> float:
    """The median of some comparisons in a row, which take a good part of the time that a run is followed."""
    taken = []
    for _ in range(COMPARISONS):
        begun = time.perf_counter()
        compare(trainer, "a", "b", window=1000)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def child(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """This script again, and its first word."""
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def measured(folder: Path) -> tuple[list[tuple[float, float]], list[list[list[list[object]]]]]:
    """Seconds of a comparison beside the followers and alone, round by round; and what the followers were told."""
    make_home(folder)
    rounds, told = [], []
    with serving(folder) as host:
        trainer = client(host)
        compare_seconds(trainer)
        for _ in range(ROUNDS):
            alone = compare_seconds(trainer)
            worker, run_id = child("train", str(folder))
            followers, _word = child("follow", host, run_id)
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
            rounds.append((compare_seconds(trainer), alone))
            told.append(json.loads(followers.communicate()[0]))
            worker.communicate()
        trainer.close()
    return rounds, told


def main() -> bool:
    """Print the ratio and the count; True when both are within their limits."""
    with tempfile.TemporaryDirectory() as scratch:
        rounds, told = measured(Path(scratch) / "home")
    ratio = statistics.median(beside / alone for beside, alone in rounds)
    beside, alone = (statistics.median(each) * 1e3 for each in zip(*rounds, strict=True))
    missing, events = sum(map(lost, told)), sum(len(each) for round_ in told for each in round_)
    print(f"compare beside {FOLLOWERS} followers: {beside:.1f} ms  against {alone:.1f} ms alone: ", end="")
    print(f"{ratio:.2f} x (at most {LIMIT:g})")
    print(f"events told to {FOLLOWERS} followers of {ROUNDS} runs: {events}, lost {missing} (at most 0)")
    return ratio <= LIMIT and missing == 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["train", folder]:
            train(folder)
        case ["follow", host, run_id]:
            follow(host, run_id)
        case _:
            sys.exit(not main())
