"""`akka-trainer start`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import click

from akka_optimize import errors
from akka_optimize.trainer.commands import flags

if TYPE_CHECKING:
    from akka_optimize.trainer.service.asked import Asked

POLL_SECONDS = 0.05
JUST_BEGUN_SECONDS = 10.0  # between a service's lock and its record there is little to do, even on a busy machine


@click.command()
@flags.service
@click.option(
    "--timeout",
    default=60.0,
    show_default=True,
    type=flags.Seconds(),
    metavar="SECONDS",
    help="How long to wait until it is ready; it goes on starting afterwards",
)
def start(timeout: float, **given: Any) -> None:
    """Serve a home over the network, in the background, wait until it is ready, and print its address.

    What it prints goes to the home's service.log. Where the home is served already, that is said and nothing is done.
    """
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.service.asked import options
    from akka_optimize.trainer.service.spawning import started

    asked = flags.asked(**given)
    if _served(asked, timeout):
        return
    options(asked, os.environ, flags.warn)
    try:
        address = started(Home.open(asked.home), asked, timeout, flags.say)
    except errors.Conflict:
        if _soon_served(asked, timeout):  # somebody was quicker
            return
        raise
    flags.say(f"serving {asked.home}; to end it: akka-trainer stop{flags.typed_home(asked.home)}")
    flags.out(address)


def _soon_served(asked: Asked, timeout: float) -> bool:
    """The same, where another service has just begun and has not said yet where it is."""
    deadline = time.monotonic() + min(timeout, JUST_BEGUN_SECONDS)
    while not (found := _served(asked, timeout)) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return found


def _served(asked: Asked, timeout: float) -> bool:
    """Does a service answer for the home? One that is on its way is waited for. Raises TimedOut."""
    from akka_optimize.trainer.service import background

    deadline = time.monotonic() + timeout
    while (found := background.running(asked.home)) is not None and found.state != background.READY:
        if time.monotonic() > deadline:
            raise errors.TimedOut(
                f"{asked.home} is served by process {found.pid}, which is {found.state}, for more than {timeout:g} s"
            )
        time.sleep(POLL_SECONDS)
    if found is None:
        return False
    flags.say(f"{asked.home} is served already, by process {found.pid}; nothing was started")
    flags.out(found.address)
    return True
