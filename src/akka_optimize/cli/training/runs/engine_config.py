"""`training runs engine-config`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.engine import ENGINE_CONFIG


@command(
    view=ENGINE_CONFIG,
    examples="""
        # What the engine made of one setting
        akka-optimize training runs engine-config first --jq .resolved.config.adam_beta1
    """,
)
@click.argument("run")
@click.pass_obj
def engine_config(app: App, run: str) -> None:
    """Show what a run's engine was asked for, and what it made of that; a mark shows where the two differ.

    The worker records both before the first update; before that there is nothing to show.
    """
    app.emit(app.trainer.engine_config(run))
