"""A service in the background: a process of its own session, which tells through a pipe how its start went."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.trainer.launch import OUTLIVES_US, process_possible, same_package
from akka_optimize.trainer.service import background
from akka_optimize.trainer.service.report import failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.service.asked import Asked

LAST_LINES = 5  # of the log, where the service ended without a word
TAIL_BYTES = 4096


def started(home: Home, asked: Asked, timeout: float, say: Callable[[str], None]) -> str:
    """Start a service and wait until it answers; its address. `say` is told the last words of one that ended.

    Raises what kept it from starting; Exhausted (no process can be started), Refused (it ended without a word of that),
    TimedOut (it goes on starting).
    """
    with process_possible("the service"):
        ours, theirs = os.pipe()
    with open(ours, "rb", buffering=0) as report:
        log_begins, process = _spawned(home, asked, theirs)
        try:
            word = _word(report, timeout)
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise
        if word is None:
            process.returncode = OUTLIVES_US  # by intent, and no complaint
            raise errors.TimedOut(
                f"the trainer is not ready after {timeout:g} s, and goes on starting in process {process.pid}",
                hint="`akka-trainer status` says how far it is, `akka-trainer logs` what it printed",
            )
        if "address" in word:
            process.returncode = OUTLIVES_US
            return str(word["address"])
        status = process.wait()
        if "error" in word:
            raise failure(word)
        raise _ended(home, status, log_begins, say)


def _spawned(home: Home, asked: Asked, report: int) -> tuple[int, subprocess.Popen[bytes]]:
    """How long the log was, and the service, in a session of its own."""
    command = [
        sys.executable,
        "-u",
        "-m",
        "akka_optimize.trainer.main",
        "serve",
        *asked.argv(),
        "--report",
        str(report),
    ]
    with open(report, "wb", buffering=0), open(background.open_log(home), "ab", buffering=0) as log:
        length = os.fstat(log.fileno()).st_size
        with process_possible("the service"):
            process = subprocess.Popen(
                command,
                cwd="/",
                env=os.environ | same_package(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(report,),
                start_new_session=True,
            )
        return length, process


def _word(report: Any, timeout: float) -> dict[str, Any] | None:
    """What the service told; {} where it ended without, None where it said nothing in time."""
    deadline, told = time.monotonic() + timeout, b""
    while not told.endswith(b"\n"):
        if not select.select([report], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return None
        if not (more := report.read(1 << 16)):
            return {}
        told += more
    word: dict[str, Any] = json.loads(told)
    return word


def _ended(home: Home, status: int, log_begins: int, say: Callable[[str], None]) -> errors.AkkaError:
    path = home.path / background.LOG
    with path.open("rb") as log:
        log.seek(max(log_begins, path.stat().st_size - TAIL_BYTES))
        lines = log.read().decode("utf-8", "replace").splitlines()[-LAST_LINES:]
    for line in lines:
        say(f"  {line}")
    how = f"by signal {-status}" if status < 0 else f"with exit code {status}"
    return errors.Refused(f"the trainer ended before it was ready, {how}", hint=f"{path} has all that it printed")
