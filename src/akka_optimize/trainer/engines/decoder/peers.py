"""The other processes of a session that trains on several devices, as the first one starts, drives and ends them.

Each has two pipes: what it is to do comes in through one, and that it is ready goes out through the other. The end of
the first pipe ends it, so that nothing is left running wherever the first process goes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize.errors import Internal
from akka_optimize.records import BaseModel, Division
from akka_optimize.trainer import launch
from akka_optimize.trainer.engines import Job, ProcessLost, Source
from akka_optimize.trainer.engines.decoder.group import PATIENCE, Linked

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from akka_optimize.records import Document
    from akka_optimize.trainer.engines.decoder.replica import Replica

MODULE = "akka_optimize.trainer.engines.decoder.peer"
READY, MEET, STEP, HOLD = b"r", b"m", b"s", b"h"  # one byte each
LEFT = 3  # the exit status of a process that ends because another one did
SECONDS_TO_END = 5.0
POLL_SECONDS = 0.01


class Peers:
    """The processes from 1 on; this is process 0."""

    def __init__(self, job: Job, devices: Sequence[torch.device]) -> None:
        """Start them, with nothing to do yet. Raises OSError."""
        self._job = job
        self._devices = devices
        self._size = len(devices)
        self._kept = ExitStack()
        self._meeting = Path(self._kept.enter_context(tempfile.TemporaryDirectory(prefix="akka-")), "processes")
        self._processes: list[subprocess.Popen[bytes]] = []
        with ExitStack() as undo:
            undo.callback(self.close)
            for _ in devices[1:]:
                self._processes.append(_started())
            undo.pop_all()

    def order(self) -> None:
        """Tell each what to train."""
        job = json.dumps(described_job(self._job))
        for rank, device in enumerate(self._devices[1:], 1):
            place = {"rank": rank, "size": self._size, "device": str(device), "meeting": str(self._meeting)}
            self._write(f"{json.dumps(place)}\n{job}\n".encode(), [rank])

    def meet(self, replica: Replica) -> Linked:
        """Wait until all are ready, and join them. Raises ProcessLost, Internal (they do not start out alike)."""
        for process in self._processes:
            assert process.stdout is not None
            if process.stdout.read(1) != READY:
                raise self.lost(replica.steps_done)
        self.tell(MEET)
        group = Linked(self._meeting, 0, self._size, replica.device)
        digests = {tuple(digest.tolist()) for digest in group.gather(replica.digest())}
        self._kept.close()  # not before all have met
        if len(digests) > 1:
            group.close()
            raise Internal(f"the {self._size} processes of the run do not start from the same adapter")
        return group

    def tell(self, command: bytes) -> None:
        """One command to each."""
        self._write(command, range(1, self._size))

    def lost(self, done: int) -> ProcessLost:
        """The error that says which of them has ended, once it can be told."""
        deadline = time.monotonic() + SECONDS_TO_END
        while not (ended := self._ended()) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        for rank, status in ended or self._ended(those_who_left=True):
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            return ProcessLost(f"process {rank} of {self._size} ended ({how}) after update {done}")
        minutes = PATIENCE.total_seconds() / 60
        return ProcessLost(f"a process of {self._size} did not answer for {minutes:g} minutes after update {done}")

    def close(self) -> None:
        """End all of them, and see that they have ended."""
        for process in self._processes:
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
        for process in self._processes:
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self._processes = []
        self._kept.close()

    def _write(self, message: bytes, ranks: Sequence[int]) -> None:
        for rank in ranks:
            pipe = self._processes[rank - 1].stdin
            assert pipe is not None
            with suppress(BrokenPipeError):  # who cannot be told has ended, and is missed at the next sum
                pipe.write(message)
                pipe.flush()

    def _ended(self, *, those_who_left: bool = False) -> list[tuple[int, int]]:
        """Rank and exit status of those that have ended, first those that a signal ended."""
        found = [(rank, process.poll()) for rank, process in enumerate(self._processes, 1)]
        ended = [(rank, status) for rank, status in found if status is not None]
        return sorted((each for each in ended if those_who_left or each[1] != LEFT), key=lambda each: each[1])


def described_job(job: Job) -> Document:
    """A job as JSON, for `read_job` in another process."""
    source = job.source
    return {
        "runId": job.run_id,
        "plan": job.plan,
        "division": asdict(job.division),
        "rows": list(job.rows),
        "baseModel": asdict(job.base_model),
        "threads": job.threads,
        "source": source and [source.restore, *map(_absolute, (source.weights, source.training_state))],
        "resume": _absolute(job.resume),
    }


def read_job(told: Document) -> Job:
    """The job that `described_job` described."""
    source = told["source"]
    return Job(
        run_id=told["runId"],
        plan=told["plan"],
        division=Division(**told["division"]),
        rows=told["rows"],
        base_model=BaseModel(**told["baseModel"]),
        threads=told["threads"],
        source=source and Source(source[0], Path(source[1]), source[2] and Path(source[2])),
        resume=told["resume"] and Path(told["resume"]),
    )


def _started() -> subprocess.Popen[bytes]:
    """A process that waits to be told; what it prints goes where ours goes."""
    environ = os.environ | launch.QUIET_THREADS | launch.same_package()
    return subprocess.Popen(
        [sys.executable, "-u", "-m", MODULE],
        cwd="/",
        env={name: value for name, value in environ.items() if name != launch.TOKEN_VARIABLE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def _absolute(path: Path | None) -> str | None:
    return None if path is None else os.path.abspath(path)
