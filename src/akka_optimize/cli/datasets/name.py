"""`datasets name`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.dataset import DATASET


@command(
    view=DATASET,
    examples="""
        # From now on triage-train is this one; runs keep the rows they were started with
        akka-optimize datasets name triage-train 4b1c2f9b2ae4
    """,
)
@click.argument("name")
@click.argument("dataset")
@click.pass_obj
def name(app: App, name: str, dataset: str) -> None:
    """Give DATASET the name NAME, or move the name to it."""
    app.emit(app.trainer.name_dataset(name, dataset))
