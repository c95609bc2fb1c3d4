"""`akka-trainer status`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from akka_optimize import errors
from akka_optimize.trainer.commands import flags

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE_SECONDS = 2.0  # for the counts; who asks wants to know soon
NOT_RUNNING = 1


@click.command()
@flags.home_option
def status(home: str) -> None:
    """Say whether a home is served, and where. Exit code 0 when it is, 1 when it is not."""
    from akka_optimize.trainer.service import background

    folder = flags.folder(home)
    found = background.running(folder)
    if found is None:
        flags.say(f"no trainer serves {folder}")
        sys.exit(NOT_RUNNING)
    rows = {"State": found.state, "Address": found.address, "Process": str(found.pid)}
    rows |= {"Home": str(folder), "Since": found.started}
    if found.state != background.STARTING:  # its tables may be at work
        rows |= _counts(folder)
    for name, value in rows.items():
        flags.out(f"{name:<9}{flags.visible(value)}")


def _counts(folder: Path) -> dict[str, str]:
    """Workers, and runs that wait and are trained; what cannot be read is said and left out."""
    from akka_optimize.trainer import slots
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

    home = Home(folder)
    try:
        with Catalog.open(home, patience=PATIENCE_SECONDS) as catalog:
            queued, running = catalog.runs(phase="QUEUED", limit=1).total, len(catalog.active())
        return {"Workers": str(slots.count(home)), "Queued": str(queued), "Running": str(running)}
    except errors.AkkaError as error:
        flags.warn(error.message)
        return {}
