"""`akka-trainer stop`."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from akka_optimize import errors
from akka_optimize.trainer.commands import flags

if TYPE_CHECKING:
    from akka_optimize.trainer.processes import Process

AT_ONCE_SECONDS = 5.0  # until a service that does not even hear a second signal is killed


@click.command()
@flags.home_option
@click.option("--now", is_flag=True, help="End it at once, calls and runs in training included")
@click.option(
    "--timeout",
    default=60.0,
    show_default=True,
    type=flags.Seconds(),
    metavar="SECONDS",
    help="How long to wait until it has ended; it goes on ending afterwards",
)
def stop(home: str, now: bool, timeout: float) -> None:
    """End the service of a home, and wait until it has ended.

    Calls in flight end, each run in training ends after its update at hand, as FAILED and resumable; what waits in the
    queue goes on waiting for the next start.
    """
    from akka_optimize.trainer import processes
    from akka_optimize.trainer.service import background

    folder = flags.folder(home)
    found = background.running(folder)
    if found is None:
        flags.say(f"no trainer serves {folder}; nothing was stopped")
        return
    try:
        found.process.tell(signal.SIGTERM)
        if now:
            _end(found.process)
    except PermissionError as error:
        raise errors.Refused(f"process {found.pid}, which serves {folder}, is another user's") from error
    if processes.wait([found.process], timeout):
        raise errors.TimedOut(
            f"the trainer at {found.address} has not ended after {timeout:g} s, and goes on ending",
            hint="`akka-trainer stop --now` ends it at once",
        )
    flags.say(f"the trainer at {found.address} has stopped")


def _end(service: Process) -> None:
    """The second signal, which has to differ from the first: two of a kind may arrive as one."""
    from akka_optimize.trainer import processes

    service.tell(signal.SIGINT)
    if processes.wait([service], AT_ONCE_SECONDS):
        service.tell(signal.SIGKILL)
