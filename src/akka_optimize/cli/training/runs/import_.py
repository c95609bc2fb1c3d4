"""`training runs import`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.run import RUN


@command(
    name="import",
    view=RUN,
    examples="""
        # Every folder that an export wrote
        akka-optimize training runs import records

        # One folder; the runs that it descends from have to be known to the trainer already
        akka-optimize training runs import records/7d496e82c3a15f04-e14ea5ff5f88
    """,
)
@click.argument("directory", metavar="DIR")
@click.pass_obj
def import_(app: App, directory: str) -> None:
    """Take the folder of a run, or all folders of runs in DIR, into the trainer's catalog.

    All are taken, or none. Every file is checked here and again by the trainer. Runs keep their IDs, their curves and
    what they saved; their rows become a dataset, and their workload is the one of that name, made where there is none.
    A run that is there already with the same content is left alone; one with other content is refused.

    A run whose base model the trainer lacks can be read and compared, and cannot be trained from.
    """
    from akka_optimize.actions.training.runs.import_ import import_ as action

    imported = action(app.trainer, directory)
    for note in imported.notes:
        app.note(f"Note: {note}")
    app.emit(imported.runs)
