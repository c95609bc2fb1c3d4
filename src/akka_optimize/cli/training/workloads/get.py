"""`training workloads get`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.workload import WORKLOAD


@command(
    view=WORKLOAD,
    examples="""
        # By name or ID
        akka-optimize training workloads get triage
    """,
)
@click.argument("workload")
@click.pass_obj
def get(app: App, workload: str) -> None:
    """Show one workload: its evaluation settings, and how many runs belong to it."""
    app.emit(app.trainer.workload(workload))
