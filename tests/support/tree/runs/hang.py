"""A leaf that ends by a signal alone."""

from __future__ import annotations

import signal

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command()
@click.pass_obj
def hang(app: App) -> None:
    """Say so, then wait."""
    app.write("waiting\n")
    signal.pause()
