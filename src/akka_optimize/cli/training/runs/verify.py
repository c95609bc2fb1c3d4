"""`training runs verify`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.verification import VERIFICATION


@command(
    view=VERIFICATION,
    examples="""
        # Is the record of this run what it says it is?
        akka-optimize training runs verify first

        # Folders that came from somewhere else; no trainer is asked
        akka-optimize training runs verify ./7d496e82c3a15f04-e14ea5ff5f88 copied/*

        # Every file that does not match
        akka-optimize training runs verify first --jq '.folders[].mismatches[].file'
    """,
)
@click.argument("named", metavar="RUN|FOLDER", nargs=-1, required=True)
@click.pass_obj
def verify(app: App, named: tuple[str, ...]) -> None:
    """Recompute the hashes of a run's record from its files, and name every file that does not match.

    Configuration, rows, snapshots and curves are held against each other and against the list in checksums.txt. What
    exists here as a folder, or is written as a path, is checked here and needs no trainer; any other argument is a run,
    whose folder is checked where its trainer is. The command fails when anything does not match.
    """
    from akka_optimize.actions.training.runs import verify as action

    found = action.verify(lambda: app.trainer, named)
    app.emit(found)
    action.require_sound(found)
