"""`training snapshots pin`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.snapshot import SNAPSHOT


@command(
    view=SNAPSHOT,
    examples="""
        # The weights alone
        akka-optimize training snapshots pin 3f2a9c71bd04 --kind weights
    """,
)
@click.argument("snapshot")
@click.option(
    "--kind", type=click.Choice(["weights", "trainingState"]), help="Hold only this kind: weights or trainingState"
)
@click.pass_obj
def pin(app: App, snapshot: str, kind: str | None) -> None:
    """Hold a snapshot against sweeping, both kinds of it unless one is named.

    A kind that was swept already cannot be pinned. Pinning twice changes nothing.
    """
    app.emit(app.trainer.pin_snapshot(snapshot, kinds=[kind] if kind else []))
