"""A leaf whose name holds a hyphen, and whose argument has the name of an inherited option."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command()
@click.argument("output")
@click.pass_obj
def engine_config(app: App, output: str) -> None:
    """Print an argument."""
    app.write(f"{output} {app.settings}\n")
