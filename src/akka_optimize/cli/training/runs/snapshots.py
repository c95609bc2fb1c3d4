"""`training runs snapshots`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import WholeNumber, natural_int
from akka_optimize.output.views.snapshot import SNAPSHOT


@command(
    view=SNAPSHOT,
    examples="""
        # The newest snapshot
        akka-optimize training runs snapshots first --jq '.snapshots[0].snapshotId'
    """,
)
@click.argument("run")
@click.option("--limit", type=WholeNumber(1, 100), default=50, help="Most snapshots to list")
@click.option("--offset", type=natural_int, default=0, help="Snapshots to leave out, from the newest")
@click.pass_obj
def snapshots(app: App, run: str, limit: int, offset: int) -> None:
    """List what a run saved, newest first. A save that was cut short is never listed."""
    app.emit(app.trainer.snapshots(run, limit=limit, offset=offset))
