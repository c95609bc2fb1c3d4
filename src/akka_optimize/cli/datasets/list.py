"""`datasets list`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.dataset import DATASET


@command(
    view=DATASET,
    examples="""
        # Names and sizes
        akka-optimize datasets list --json hash,names,exampleCount
    """,
)
@click.pass_obj
def list(app: App) -> None:
    """List datasets, newest first."""
    app.emit(app.trainer.datasets())
