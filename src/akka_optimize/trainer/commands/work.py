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

    from akka_optimize.trainer.home import Home


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
        self._told = False
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, home: Home) -> None:
        """Start as many workers as runs wait, in the places that are free, and say what was done."""
        from akka_optimize.trainer import launch, recover, slots
        from akka_optimize.trainer.catalog import Catalog

        with Catalog.open(home) as catalog:
            for note in (*catalog.notes, *recover.recover(catalog, home)):
                click.echo(note, err=True)
            waiting = catalog.runs(phase="QUEUED", limit=1).total
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hand_on)
        wanted = min(waiting, slots.count(home))
        while len(self._processes) < wanted and not self._told and (lock := slots.take(home)) is not None:
            self._processes.append(launch.start(home, lock))
        others = f"; other workers have {wanted - started} places" if (started := len(self._processes)) < wanted else ""
        click.echo(f"queued runs: {waiting}; workers started: {started}{others}", err=True)

    def wait(self) -> None:
        """Wait for all of them. Raises Interrupted (we were told to end), Refused (a worker failed)."""
        failed = sum(process.wait() != 0 for process in self._processes)
        if self._told:
            raise errors.Interrupted("the workers were told to stop", hint="the same command goes on with the queue")
        if failed:
            raise errors.Refused(f"{failed} of {len(self._processes)} workers ended with an error")

    def _hand_on(self, _number: int, _frame: FrameType | None) -> None:
        self._told = True
        for process in self._processes:
            process.terminate()
