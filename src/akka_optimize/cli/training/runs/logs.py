"""`training runs logs`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command(
    examples="""
        # What happened, tracebacks included
        akka-optimize training runs logs first
    """,
)
@click.argument("run")
@click.pass_obj
def logs(app: App, run: str) -> None:
    """Print what a run's worker printed so far."""
    app.write_bytes(app.trainer.run_log(run))
