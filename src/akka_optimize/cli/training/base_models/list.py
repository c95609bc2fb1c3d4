"""`training base-models list`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.base_model import BASE_MODEL


@command(
    view=BASE_MODEL,
    examples="""
        # Those that are ready, or all that are known
        akka-optimize training base-models list
        akka-optimize training base-models list --all
    """,
)
@click.option("--all", "everything", is_flag=True, help="List those that are not selected too")
@click.pass_obj
def list(app: App, everything: bool) -> None:
    """List base models. Those that are not selected can be trained too; --all lists them.

    akka/arithmetic is one of these: it trains nothing, and makes up its curves at once, for trying things out.
    """
    app.emit(app.trainer.base_models(everything=everything))
