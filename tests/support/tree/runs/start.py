"""A leaf that asks before it goes on."""

from __future__ import annotations

import click
from support.tree.records import RUN, SHORT

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command(view=lambda params: SHORT if params["label"] else RUN)
@click.option("--label", help="Some text.")
@click.option("--steps", type=int, required=True, help="How many.")
@click.pass_obj
def start(app: App, label: str | None, steps: int) -> None:
    """Ask, then start."""
    app.confirm("Start one run?")
    app.note("starting")
    app.emit(app.trainer.run("7d49"))
