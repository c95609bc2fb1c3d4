"""`training runs delete`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # Make room for others in a fan
        akka-optimize training runs delete be2a310245ea0c11
    """,
)
@click.argument("run")
@click.pass_obj
def delete(app: App, run: str) -> None:
    """Delete a run that has ended, with its folder, its curves and its snapshots.

    Refused while something holds it: child runs that branched from it, or a pinned snapshot. Its ID stays spent, so
    that no later submission brings another run under it.
    """
    found = app.trainer.run(run)
    app.confirm(f"Delete run {found.run_id} ({found.name or found.config_name or 'no name'}) and all its files?")
    app.emit(app.trainer.delete_run(found.run_id))
