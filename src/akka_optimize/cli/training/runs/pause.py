"""`training runs pause`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # Save, and let go of the device
        akka-optimize training runs pause first --checkpoint save
        akka-optimize training runs get first --jq .pause.resourcesReleased

        # Let go at once, and train again later what came after the newest save
        akka-optimize training runs pause first --checkpoint latest
    """,
)
@click.argument("run")
@click.option(
    "--checkpoint",
    type=click.Choice(["latest", "save"]),
    required=True,
    help="What it goes on from: its latest save as it is, or one that it makes now",
)
@click.pass_obj
def pause(app: App, run: str, checkpoint: str) -> None:
    """Pause a run, to go on with it later.

    Returns once the request is stored. A queued run is PAUSED at once, a training one after its current step, or with
    --checkpoint save after a save there. Where that save fails, the run pauses all the same, and `get` says why and
    which step it goes on from. --checkpoint latest is refused once a run has trained and saved nothing.

    `resume` queues the run again; paused runs hold no device and stay paused until then.
    """
    paused = app.trainer.pause_run(run, checkpoint=checkpoint)
    if paused.phase != "PAUSED":
        app.note("Asked to pause: it is paused once its current step is done.")
    app.emit(paused)
