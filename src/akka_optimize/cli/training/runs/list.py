"""`training runs list`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import WholeNumber, natural_int
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # Runs that have not ended
        akka-optimize training runs list --phase open

        # IDs alone, for a script
        akka-optimize training runs list --jq '.runs[].runId'
    """,
)
@click.option("--limit", type=WholeNumber(1, 1000), default=100, help="Most runs to list")
@click.option("--offset", type=natural_int, default=0, help="Runs to leave out, from the newest")
@click.option("--phase", metavar="string", help="Only runs of this phase, or open for those that have not ended")
@click.option("--workload", metavar="string", help="Only runs of this workload, by name or ID")
@click.pass_obj
def list(app: App, limit: int, offset: int, phase: str | None, workload: str | None) -> None:
    """List runs, newest first."""
    app.emit(app.trainer.runs(phase=phase, workload=workload, limit=limit, offset=offset))
