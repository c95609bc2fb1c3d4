"""`training workloads list`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.workload import WORKLOAD


@command(
    view=WORKLOAD,
    examples="""
        # Names alone
        akka-optimize training workloads list --jq '.workloads[].name'
    """,
)
@click.pass_obj
def list(app: App) -> None:
    """List workloads, newest first."""
    app.emit(app.trainer.workloads())
