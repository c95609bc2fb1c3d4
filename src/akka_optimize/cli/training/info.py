"""`training info`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.errors import Refused
from akka_optimize.output.views.info import INFO


@command(
    view=INFO,
    examples="""
        # Wait in a script until the trainer is ready
        until akka-optimize training info -q > /dev/null; do sleep 1; done

        # Which folder holds the runs of the embedded trainer?
        TRAINER_URL=local: akka-optimize training info --jq .home
    """,
)
@click.pass_obj
def info(app: App) -> None:
    """Show what the trainer is and how its start went.

    Fails when the trainer does not answer or its start did not complete, so that a loop can wait on it.
    """
    record = app.trainer.info()
    app.emit(record)
    if record.startup != "complete":
        raise Refused(f"the trainer's start is not complete: {record.startup}")
