"""`training runs metrics`."""

from __future__ import annotations

from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import positive_int
from akka_optimize.output.view import View
from akka_optimize.output.views.metrics import with_columns


def _view(parameters: dict[str, Any]) -> View:
    return with_columns(parameters.get("fields"))


@command(
    view=_view,
    examples="""
        # The last ten steps, with gradient norms
        akka-optimize training runs metrics first --limit 10 --fields gradNorm,clipped

        # All of it, for a spreadsheet
        akka-optimize training runs metrics first -o csv > first.csv
    """,
)
@click.argument("run")
@click.option("--fields", metavar="string", help="Columns to show beside the loss, as in gradNorm,tokens")
@click.option("--limit", type=positive_int, help="Only the newest steps, this many")
@click.pass_obj
def metrics(app: App, run: str, fields: str | None, limit: int | None) -> None:
    """Show a run's curves, step by step.

    JSON and -o csv hold every metric, whether or not --fields is given.
    """
    from akka_optimize.actions.training.runs.metrics import metrics as action

    del fields  # decides the view
    app.emit(action(app.trainer, run, limit=limit))
