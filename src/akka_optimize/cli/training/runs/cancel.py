"""`training runs cancel`."""

from __future__ import annotations

from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.errors import WrongUsage
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # Stop it, and wait until its worker has let go
        akka-optimize training runs cancel first --force
        akka-optimize training runs wait first

        # Every run of a sweep that has not ended
        akka-optimize training runs cancel --submission 5f0c7a1e9b3d --force
    """,
)
@click.argument("run", required=False)
@click.option("--submission", metavar="string", help="Cancel every run of the submission with this token")
@click.pass_obj
def cancel(app: App, run: str | None, submission: str | None) -> None:
    """Stop a run that has not ended, or every such run of a submission.

    Returns once the request is stored. A queued or paused run is CANCELLED at once, a training one after its current
    step. What was trained since the last save is lost; execution.saveEvery makes a run save on the way. A cancelled run
    cannot be resumed: `pause` stops one that is to go on later.
    """
    if (run is None) == (submission is None):
        raise WrongUsage("name either one RUN or --submission TOKEN")
    app.emit(_one(app, run) if run is not None else _many(app, submission))


def _one(app: App, run: str) -> Any:
    found = app.trainer.run(run)
    app.confirm(f"Cancel run {found.run_id} at step {found.observed_step} of {found.steps}?")
    cancelled = app.trainer.cancel_run(found.run_id)
    if cancelled.phase != "CANCELLED":
        app.note("Asked to stop: it is cancelled once its current step is done.")
    return cancelled


def _many(app: App, submission: str | None) -> Any:
    assert submission is not None
    app.confirm(f"Cancel every run of submission {submission} that has not ended?")
    return app.trainer.cancel_submission(submission)
