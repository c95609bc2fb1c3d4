"""A leaf named like a builtin, whose view depends on its options."""

from __future__ import annotations

import click
from support.tree.records import RUN, SHORT

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command(view=lambda params: SHORT if params["short"] else RUN)
@click.option("--short", is_flag=True, help="Fewer fields.")
@click.pass_obj
def list(app: App, short: bool) -> None:
    """List runs."""
    app.emit(app.trainer.runs())
