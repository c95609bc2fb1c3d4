"""`training runs cancel`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # Stop it, and wait until its worker has let go
        akka-optimize training runs cancel first --force
        akka-optimize training runs wait first
    """,
)
@click.argument("run")
@click.pass_obj
def cancel(app: App, run: str) -> None:
    """Stop a run that has not ended.

    Returns once the request is stored. A queued run is CANCELLED at once, a training one after its current step.
    """
    found = app.trainer.run(run)
    app.confirm(f"Cancel run {found.run_id} at step {found.observed_step} of {found.steps}?")
    app.emit(app.trainer.cancel_run(found.run_id))
