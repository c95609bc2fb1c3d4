"""Starting workers: processes of their own, which outlive the command that left work behind."""

from __future__ import annotations

import atexit
import errno
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import files, slots
from akka_optimize.trainer.processes import Process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.trainer.home import Home, Lock

LOG = "worker.log"
TOKEN_VARIABLE = "AKKA_TRAINER_TOKEN"  # no worker's business
OUTLIVES_US = 0
_started: list[subprocess.Popen[bytes]] = []  # looked at again, so that a process that ended leaves no zombie
_starting = threading.Lock()
_held_back = False
SCARCE = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
QUIET_THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


@atexit.register
def _leave_to_themselves() -> None:
    """Workers outlive us by intent; with a status of any kind, Popen does not complain at our end that they live."""
    for worker in _started:
        if worker.poll() is None:
            worker.returncode = OUTLIVES_US


def ensure_worker(home: Home) -> int:
    """See that workers are there for what is in the queue; call it once the queued runs are committed.

    As many are started as runs wait, or as there are free places. A place's lock is taken here and handed to the new
    process, so that any number of calls fill each place once. A worker that is about to leave looks at the queue once
    more after it let go of the lock: what was committed before this call is seen either by that worker or by a new
    one. Returns how many were started. Raises Exhausted, Refused (no process can be started, the log cannot be
    written, or the setting cannot be read); the place is free again then, and the queue waits.
    """
    begun = 0
    for _ in range(wanted(home)):
        with _starting:
            if _held_back or (lock := slots.take(home)) is None:
                break
            _started.append(_with_log(home, lock))
        begun += 1
    reap()
    return begun


@contextmanager
def held_back() -> Iterator[None]:
    """Until the block ends, this process starts no worker: what is in the queue waits for the next one who comes.

    From its first line on, every worker that was ever started here has its place, so that it can be told to end.
    """
    global _held_back
    with _starting:
        _held_back = True
    try:
        yield
    finally:
        _held_back = False


def reap() -> list[int]:
    """Let go of the workers that have ended, which are zombies until then; their exit statuses."""
    with _starting:
        looked_at = [(worker, worker.poll()) for worker in _started]
        _started[:] = [worker for worker, status in looked_at if status is None]
    return [status for _, status in looked_at if status is not None]


def _with_log(home: Home, lock: Lock) -> subprocess.Popen[bytes]:
    path = home.path / LOG
    try:
        with files.translated(path):
            log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except errors.AkkaError:
        lock.release()
        raise
    try:
        return start(home, lock, log=log)
    finally:
        os.close(log)


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
    """A worker process in the place that `lock` holds; what it prints goes to `log`, by default where ours goes.

    Raises Exhausted, Refused (no process can be started); the place is free again then.
    """
    with lock, process_possible("a worker"):
        environ = os.environ | QUIET_THREADS | same_package()
        descriptor = lock.fileno()
        handed = ["--lock", str(descriptor), "--place", lock.name]
        worker = subprocess.Popen(
            [sys.executable, "-u", "-m", "akka_optimize.trainer.worker", str(home.path), *handed],
            cwd="/",
            env={name: value for name, value in environ.items() if name != TOKEN_VARIABLE},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(descriptor,),
            start_new_session=True,
        )
        slots.sign(lock, Process.of(worker.pid))  # it does so itself, but not before it has loaded all that it needs
        return worker


@contextmanager
def process_possible(what: str) -> Iterator[None]:
    """Turn what keeps a new process from starting into Exhausted (processes, memory, open files) or Refused."""
    try:
        yield
    except OSError as error:
        sentence = f"no process can be started for {what}: {(error.strerror or str(error)).lower()}"
        if error.errno in SCARCE:
            raise errors.Exhausted(
                sentence, hint="end other programs, or raise the limits that `ulimit -a` shows"
            ) from error
        raise errors.Refused(sentence) from error


def same_package() -> dict[str, str]:
    """Where a process whose folder is the root finds the package that we are of: our paths made absolute."""
    stated = os.environ.get("PYTHONPATH")
    paths = [os.path.abspath(path) for path in stated.split(os.pathsep)] if stated else []
    ours = str(Path(__file__).parents[2])
    if ours not in paths and sys.path and os.path.abspath(sys.path[0]) == ours:  # `python -m` in the package's folder
        paths.insert(0, ours)
    return {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
