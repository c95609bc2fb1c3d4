"""What the service costs, as ratios within one run; each server is a process of its own.

* GetRun over gRPC, against the same call on a bare connectrpc service on hypercorn whose handler is empty;
* `compare --window 1000 --jq .parting` of two runs of a million steps over gRPC, as a whole process, against the same
  command on two runs of 100 steps.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.catalog import make_run
from support.service_process import serving

from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

SCRIPT = str(Path(sys.executable).with_name("akka-optimize"))
ROUNDS, CALLS = 15, 100
PROCESS_ROUNDS = 9
LIMITS = {"GetRun": 3.0, "compare, whole process": 2.0}


def make_home(folder: Path) -> str:
    """Two finished runs of 100 steps, and two of a million, with losses and gradient norms; the id of one."""
    rng = np.random.default_rng(0)
    with Catalog.open(Home.open(folder)) as catalog:
        for size, steps in (("small", 100), ("large", 1_000_000)):
            loss = rng.normal(2.0, 0.1, steps)
            for name in ("a", "b"):
                norms = rng.lognormal(0.0, 0.3, steps)
                run = make_run(catalog, name=f"{size}-{name}", loss=loss + rng.normal(0, 0.001, steps), grad_norm=norms)
    return run.run_id


def get_run_seconds(transport: GrpcTransport, run_id: str) -> float:
    """The median of some calls in a row."""
    request, taken = pb.GetRunRequest(run_id=run_id), []
    for _ in range(CALLS):
        begun = time.perf_counter()
        transport.unary("GetRun", request, pb.Run, timeout=10)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def compare_seconds(host: str, size: str) -> float:
    """Wall time of one process, from start to end."""
    command = [SCRIPT, "training", "runs", "compare", f"{size}-a", f"{size}-b", "--window", "1000"]
    command += ["--jq", ".parting", "--cache-file", "/dev/null"]
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=os.environ | {"TRAINER_URL": f"http://{host}"})
    return time.perf_counter() - begun


def calls(host: str, bare: str, run_id: str) -> list[tuple[float, float]]:
    """Seconds of a call on the service and on the bare one, round by round."""
    ours, empty = (GrpcTransport(each, tls=False, address=f"http://{each}") for each in (host, bare))
    try:
        for transport in (ours, empty):
            get_run_seconds(transport, run_id)
        return [(get_run_seconds(ours, run_id), get_run_seconds(empty, run_id)) for _ in range(ROUNDS)]
    finally:
        ours.close()
        empty.close()


def main() -> bool:
    """Print the ratios; True when each is within its limit."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "home"
        run_id = make_home(folder)
        with serving(folder) as host:
            with serving() as bare:
                called = calls(host, bare, run_id)
            compare_seconds(host, "large")
            compared = [(compare_seconds(host, "large"), compare_seconds(host, "small")) for _ in range(PROCESS_ROUNDS)]
    within = True
    for (name, limit), rounds in zip(LIMITS.items(), (called, compared), strict=True):
        ratio = statistics.median(ours / base for ours, base in rounds)
        ours, base = (statistics.median(each) * 1e3 for each in zip(*rounds, strict=True))
        print(f"{name:24} {ours:8.2f} ms  against {base:8.2f} ms: {ratio:.2f} x (at most {limit})")
        within = within and ratio <= limit
    return within


if __name__ == "__main__":
    sys.exit(not main())
