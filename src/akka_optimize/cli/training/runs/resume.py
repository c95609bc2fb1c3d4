"""`training runs resume`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # Go on, and follow it
        akka-optimize training runs resume first
        akka-optimize training runs wait first

        # Every run that lost its worker
        akka-optimize training runs list --phase failed --jq '.runs[] | select(.resumable) | .runId' |
          xargs -n 1 akka-optimize training runs resume
    """,
)
@click.argument("run")
@click.pass_obj
def resume(app: App, run: str) -> None:
    """Go on with a run that was paused, or that failed and is resumable.

    The run keeps its ID and waits in the queue for another attempt, which goes on from its newest training state, or
    from the beginning when it has saved none. What was recorded after that is trained and recorded again: replacedSteps
    says how much, and events from where. On one CPU device the curve is that of a run which was never stopped.
    """
    resumed = app.trainer.resume_run(run)
    app.note("Queued: a worker goes on with it.")
    app.emit(resumed)
