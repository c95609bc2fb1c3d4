"""`training runs export`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.export import EXPORTED


@command(
    view=EXPORTED,
    examples="""
        # The run's folder and those that it descends from, to send to somebody
        akka-optimize training runs export first records

        # Whoever has them checks them, without a trainer
        akka-optimize training runs verify records/*

        # And takes them into a catalog
        akka-optimize training runs import records
    """,
)
@click.argument("run")
@click.argument("directory", metavar="DIR")
@click.pass_obj
def export(app: App, run: str, directory: str) -> None:
    """Write the folder of RUN, and of every run it descends from, to DIR.

    Each folder is checked before it is sent and once it has arrived, and appears under its name when it is whole. One
    that is there already with the same content is left alone; one with other content is refused. A run has to have
    ended, or to be paused. What differed from the git commit, where a record holds it, stays where it is.

    DIR is made where it is missing. --timeout does not bound the export.
    """
    from akka_optimize.actions.training.runs.export import export as action

    exported = action(app.trainer, run, directory)
    for folder in exported.existing:
        app.note(f"Note: {folder} was there already, with the same content, and was left alone")
    app.emit(exported)
