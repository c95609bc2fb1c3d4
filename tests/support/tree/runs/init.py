"""A leaf that emits no record."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command()
@click.pass_obj
def init(app: App) -> None:
    """Print a template."""
    app.write("kind: run\n")
