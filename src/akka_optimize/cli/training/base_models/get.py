"""`training base-models get`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.base_model import BASE_MODEL


@command(
    view=BASE_MODEL,
    examples="""
        # By repository or ID
        akka-optimize training base-models get akka/byte-decoder-1m
    """,
)
@click.argument("base_model")
@click.pass_obj
def get(app: App, base_model: str) -> None:
    """Show one base model: its revision, what it admits, and its context."""
    app.emit(app.trainer.base_model(base_model))
