"""Starting workers: processes of their own, which outlive the command that left work behind."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from akka_optimize.trainer import slots

if TYPE_CHECKING:
    from akka_optimize.trainer.home import Home, Lock

LOG = "worker.log"
_started: list[subprocess.Popen[bytes]] = []  # looked at again, so that a process that ended is let go of
QUIET_THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


def ensure_worker(home: Home) -> None:
    """See that workers are there for what is in the queue; call it once the queued runs are committed.

    As many are started as runs wait, or as there are free places. A place's lock is taken here and handed to the new
    process, so that any number of calls fill each place once. A worker that is about to leave looks at the queue once
    more after it let go of the lock: what was committed before this call is seen either by that worker or by a new
    one. Raises Exhausted, Refused (the log cannot be written, or the setting cannot be read).
    """
    for _ in range(wanted(home)):
        if (lock := slots.take(home)) is None:
            break
        log = os.open(home.path / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            worker = start(home, lock, log=log)
        finally:
            os.close(log)
        _started[:] = [earlier for earlier in _started if earlier.poll() is None]
        _started.append(worker)


def wanted(home: Home) -> int:
    """How many workers the queue could use; with one place the queue is not even looked at."""
    most = slots.count(home)
    return most if most == 1 else min(most, waiting(home))


def waiting(home: Home) -> int:
    """How many runs are in the queue."""
    from akka_optimize.trainer.catalog import Catalog

    with Catalog.open(home) as catalog:
        return catalog.runs(phase="QUEUED", limit=1).total


def start(home: Home, lock: Lock, *, log: int | None = None) -> subprocess.Popen[bytes]:
    """A worker process in the place that `lock` holds; what it prints goes to `log`, by default where ours goes."""
    with lock:
        descriptor = lock.fileno()
        handed = ["--lock", str(descriptor), "--place", lock.name]
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "akka_optimize.trainer.worker", str(home.path), *handed],
            cwd="/",
            env=os.environ | QUIET_THREADS,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(descriptor,),
            start_new_session=True,
        )
