"""Starting a worker: a process of its own, which outlives the command that left work behind."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akka_optimize.trainer.home import Home

WORKER = "worker"
LOG = "worker.log"
_started: list[subprocess.Popen[bytes]] = []  # looked at again, so that a process that ended is let go of
QUIET_THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


def ensure_worker(home: Home) -> None:
    """See that a worker is there for what is in the queue; call it once the queued run is committed.

    The lock is taken here and handed to the new process, so that any number of calls start one worker. A worker that
    is about to leave looks at the queue once more after it let go of the lock: what was committed before this call
    is seen either by that worker or by the new one. Raises Exhausted, Refused (the log cannot be written).
    """
    lock = home.lock(WORKER)
    if lock is None:
        return
    with lock:
        descriptor = lock.fileno()
        log = os.open(home.path / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            worker = subprocess.Popen(
                [sys.executable, "-u", "-m", "akka_optimize.trainer.worker", str(home.path), "--lock", str(descriptor)],
                cwd="/",
                env=os.environ | QUIET_THREADS,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(descriptor,),
                start_new_session=True,
            )
        finally:
            os.close(log)
    _started[:] = [earlier for earlier in _started if earlier.poll() is None]
    _started.append(worker)
