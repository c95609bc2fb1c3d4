"""A leaf that prints without end."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command()
@click.pass_obj
def flood(app: App) -> None:
    """Print lines."""
    while True:
        app.write("x\n" * 10_000)
