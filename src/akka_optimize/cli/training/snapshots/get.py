"""`training snapshots get`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.snapshot import SNAPSHOT


@command(
    view=SNAPSHOT,
    examples="""
        # What does it hold?
        akka-optimize training snapshots get 3f2a9c71bd04 --jq '.artifacts[].kind'
    """,
)
@click.argument("snapshot")
@click.pass_obj
def get(app: App, snapshot: str) -> None:
    """Show one snapshot: which run saved it when, what it holds, and what holds it."""
    app.emit(app.trainer.snapshot(snapshot))
