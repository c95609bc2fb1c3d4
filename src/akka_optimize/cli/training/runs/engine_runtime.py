"""`training runs engine-runtime`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.engine import ENGINE_RUNTIME


@command(
    view=ENGINE_RUNTIME,
    examples="""
        # How much memory it needed
        akka-optimize training runs engine-runtime first --jq .memory
    """,
)
@click.argument("run")
@click.pass_obj
def engine_runtime(app: App, run: str) -> None:
    """Show what a run's engine decided and used while it ran: the parts of the model, threads, memory.

    It is that of the latest attempt that recorded any; before the first one there is nothing to show.
    """
    app.emit(app.trainer.engine_runtime(run))
