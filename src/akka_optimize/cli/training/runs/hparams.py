"""`training runs hparams`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.hparams import HPARAMS


@command(
    view=HPARAMS,
    examples="""
        # Equal settings and data have equal hashes, whatever the IDs
        akka-optimize training runs hparams first --jq .sha
    """,
)
@click.argument("run")
@click.pass_obj
def hparams(app: App, run: str) -> None:
    """Show every setting that decided a run's arithmetic, by its path, and the hash of them all.

    The worker records them when it begins; before that there is nothing to show.
    """
    app.emit(app.trainer.hparams(run))
