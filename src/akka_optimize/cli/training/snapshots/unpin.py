"""`training snapshots unpin`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.snapshot import SNAPSHOT


@command(
    view=SNAPSHOT,
    examples="""
        # Let its run's keep counts decide again
        akka-optimize training snapshots unpin 3f2a9c71bd04
    """,
)
@click.argument("snapshot")
@click.option(
    "--kind", type=click.Choice(["weights", "trainingState"]), help="Drop only this kind: weights or trainingState"
)
@click.pass_obj
def unpin(app: App, snapshot: str, kind: str | None) -> None:
    """Drop the pin of a snapshot, of every kind that it holds unless one is named.

    What nothing else holds may be swept at its run's next save.
    """
    app.emit(app.trainer.unpin_snapshot(snapshot, kinds=[kind] if kind else []))
