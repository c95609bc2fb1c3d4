"""`akka-trainer` on a home of the test's own: in this process, or as the processes that a user starts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from akka_optimize.trainer import main, processes
from akka_optimize.trainer.launch import TOKEN_VARIABLE
from akka_optimize.trainer.service import background

PROGRAM = [sys.executable, "-m", "akka_optimize.trainer.main"]
PATIENCE_SECONDS = 60.0
CHANGED = """
import sys, threading
from akka_optimize.trainer import main
from akka_optimize.trainer.service import life

class Endless:
    def GetRun(self, request, call):
        threading.Event().wait()

def endless(home):
    return Endless()

def opening(home):
    threading.Event().wait()

life.opened = {opened}
main.main(sys.argv[1:])
"""
ENDLESS = [sys.executable, "-c", CHANGED.format(opened="endless")]  # one method, and its calls do not end
OPENING = [sys.executable, "-c", CHANGED.format(opened="opening")]  # a home that is never open
READY = re.compile(r"ready at (http\S+?)[; ]")


@dataclass(frozen=True)
class Ended:
    """What became of a command."""

    code: int
    out: str
    err: str


class TrainerProgram:
    """The program on one home."""

    def __init__(self, home: Path, program: Sequence[str] = PROGRAM) -> None:
        """`program` is what a process is started with: the real one, or one whose inside a test has changed."""
        self.home, self.program = home, program

    def __call__(self, *argv: str, capsys: pytest.CaptureFixture[str]) -> Ended:
        """Carry out a command in this process."""
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main.main([argv[0], "--home", str(self.home), *argv[1:]])
        out, err = capsys.readouterr()
        return Ended(end.value.code or 0, out, err)

    def spawn(self, *argv: str, **environ: str) -> subprocess.Popen[str]:
        """Start a command as a process, with pipes to what it prints."""
        kept = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
        return subprocess.Popen(
            [*self.program, argv[0], "--home", str(self.home), *argv[1:]],
            env=kept | {"OMP_NUM_THREADS": "1"} | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *argv: str, **environ: str) -> Ended:
        """Carry out a command as a process."""
        return finished(self.spawn(*argv, **environ))

    @contextmanager
    def served(self, *argv: str, **environ: str) -> Iterator[Service]:
        """`serve` on a free port, from when it is ready; killed with the block unless it has ended."""
        with self.spawn("serve", "--port", "0", *argv, **environ) as process:
            try:
                yield Service(process, ready(process))
            finally:
                process.kill()
                process.communicate()

    def end(self) -> None:
        """Kill the service in the background and the workers, if there are any."""
        if (found := background.running(self.home)) is not None:
            found.process.tell(signal.SIGKILL)
            assert processes.wait([found.process], PATIENCE_SECONDS) == []


@dataclass(frozen=True)
class Service:
    """A service that is ready."""

    process: subprocess.Popen[str]
    address: str

    @property
    def host(self) -> str:
        """Host and port."""
        return self.address.partition("//")[2]

    def tell(self, number: int) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def finished(self) -> Ended:
        """How it ended, and what it printed since it was ready."""
        return finished(self.process)


def ready(process: subprocess.Popen[str]) -> str:
    """The address at which a service is ready."""
    assert process.stderr is not None
    said = []
    while line := process.stderr.readline():
        said.append(line)
        if found := READY.search(line):
            return found[1]
    raise AssertionError(f"it ended before it was ready: {said}")


def finished(process: subprocess.Popen[str]) -> Ended:
    """How a command ended, and what it printed."""
    try:
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        with suppress(ValueError):
            process.communicate()
        raise
    return Ended(process.returncode, out, err)
