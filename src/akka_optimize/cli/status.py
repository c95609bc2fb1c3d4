"""`status`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.status import STATUS


@command(
    view=STATUS,
    examples="""
        # Which addresses hold, and does anybody answer there?
        akka-optimize status

        # The address of the trainer alone, for a script
        akka-optimize status --jq '.services[] | select(.name == "trainer").address'
    """,
)
@click.pass_obj
def status(app: App) -> None:
    """Show each service: its address and where that came from, whether it answers, and how fast.

    Ends with 0 whatever it finds; `training info` is the one that fails when the trainer is not ready. Each service is
    asked once, all at the same time, within --timeout. With an embedded trainer (local:) the Optimize service is only
    asked when an address was given for it.
    """
    from akka_optimize.actions.status import status as action

    app.emit(action(app.services, timeout=app.settings.timeout))
