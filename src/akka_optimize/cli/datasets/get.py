"""`datasets get`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.dataset import DATASET


@command(
    view=DATASET,
    examples="""
        # By name, or by the beginning of its hash
        akka-optimize datasets get triage-train
        akka-optimize datasets get 4b1c2f9b2ae4
    """,
)
@click.argument("dataset")
@click.pass_obj
def get(app: App, dataset: str) -> None:
    """Show one dataset: its hash, names, size, and what was noticed about its rows."""
    app.emit(app.trainer.dataset(dataset))
