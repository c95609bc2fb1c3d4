"""`akka-trainer work`."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from akka_optimize import errors
from akka_optimize.trainer.commands import flags

if TYPE_CHECKING:
    import subprocess
    from types import FrameType

    from akka_optimize.trainer.home import Home, Lock


@click.command()
@flags.home_option
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Runs trained at once, from 1 to 64; remembered for later submissions  [default: as remembered, else 1]",
)
def work(home: str, workers: int | None) -> None:
    """Carry out queued runs in the foreground, and end when none is left.

    Ctrl-C ends each run in training after its update at hand, as FAILED and resumable; what waits goes on waiting.
    Pressed twice, it ends them at once.
    """
    from akka_optimize.trainer import slots
    from akka_optimize.trainer.home import Home

    opened = Home.open(flags.folder(home))
    if workers is not None:
        slots.set_count(opened, workers)
    foreground = Foreground()
    foreground.start(opened)
    foreground.wait()


class Foreground:
    """Workers that end when we are told to end."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._reached: list[int] = []  # how many of them each signal reached that told us to end

    def start(self, home: Home) -> None:
        """Start as many workers as runs wait, in the places that are free, and say what was done.

        Raises Exhausted, Refused (not even one can be started).
        """
        from akka_optimize.trainer import recover, slots
        from akka_optimize.trainer.catalog import Catalog

        with Catalog.open(home) as catalog:
            for note in (*catalog.notes, *recover.recover(catalog, home)):
                flags.say(note)
            waiting = catalog.runs(phase="QUEUED", limit=1).total
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hand_on)
        wanted = min(waiting, slots.count(home))
        while len(self._processes) < wanted and not self._reached and (lock := slots.take(home)) is not None:
            try:
                self._start_one(home, lock)
            except errors.AkkaError as error:
                if not self._processes:
                    raise
                wanted = len(self._processes)
                flags.warn(error.message)
        missing = 0 if self._reached else wanted - len(self._processes)
        others = f"; other workers have {missing} place{'s' * (missing > 1)}" if missing else ""
        flags.say(f"queued runs: {waiting}; workers started: {len(self._processes)}{others}")

    def wait(self) -> None:
        """Wait for all of them. Raises Interrupted (we were told to end), Refused (a worker failed)."""
        failed = sum(process.wait() != 0 for process in self._processes)
        if self._reached:
            raise errors.Interrupted("the workers were told to stop", hint="the same command goes on with the queue")
        if failed:
            raise errors.Refused(f"{failed} of {len(self._processes)} workers ended with an error")

    def _start_one(self, home: Home, lock: Lock) -> None:
        from akka_optimize.trainer import launch

        place, worker = len(self._processes), launch.start(home, lock)
        self._processes.append(worker)
        for _ in filter(lambda reached: reached <= place, self._reached):  # told between its start and this list
            worker.terminate()

    def _hand_on(self, _number: int, _frame: FrameType | None) -> None:
        self._reached.append(len(self._processes))
        for process in self._processes:
            process.terminate()
