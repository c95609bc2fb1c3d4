"""`training runs ancestry`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.lineage import ANCESTRY


@command(
    view=ANCESTRY,
    examples="""
        # Where did it all begin?
        akka-optimize training runs ancestry 7d496e82c3a15f04 --jq '.runs[0].runId'
    """,
)
@click.argument("run")
@click.pass_obj
def ancestry(app: App, run: str) -> None:
    """Show the chain from the first ancestor to a run. A run that never branched is a chain of one."""
    app.emit(app.trainer.ancestry(run))
