"""`training runs get`."""

from __future__ import annotations

from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.view import View
from akka_optimize.output.views.run import RUN, SETTINGS


def _view(parameters: dict[str, Any]) -> View:
    return SETTINGS if parameters.get("settings") else RUN


@command(
    view=_view,
    examples="""
        # By ID, by the beginning of it, or by name
        akka-optimize training runs get 7d496e82c3a15f04
        akka-optimize training runs get first

        # Every setting; those that the descriptor set itself are marked
        akka-optimize training runs get first --settings

        # Why did it fail?
        akka-optimize training runs get first --jq .failureReason
    """,
)
@click.argument("run")
@click.option("--settings", is_flag=True, help="Show config and execution, and which of them the descriptor stated")
@click.pass_obj
def get(app: App, run: str, settings: bool) -> None:
    """Show one run: what it is, how far it is, and how it ended."""
    del settings  # decides the view
    app.emit(app.trainer.run(run))
