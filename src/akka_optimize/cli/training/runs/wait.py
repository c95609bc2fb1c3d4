"""`training runs wait`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import GoDuration
from akka_optimize.errors import Interrupted
from akka_optimize.output.views.event import EVENT
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # At most ten minutes; the run goes on whatever happens here
        akka-optimize training runs wait first --timeout 10m

        # In a script: 5 unless it completes
        akka-optimize training runs wait first --exit-status -q --jq .phase
    """,
)
@click.argument("run")
@click.option("--exit-status", is_flag=True, help="Exit with 5 when the run failed or was cancelled")
@click.option("--timeout", type=GoDuration(zero=True), help="Longest wait; 0, as by default, is no bound")
@click.pass_obj
def wait(app: App, run: str, exit_status: bool, timeout: float | None) -> None:
    """Follow a run until it ends, and show it.

    A run that somebody paused is waited for. One that the trainer paused by itself, as it does when the disk is full,
    is shown, and the wait ends with exit code 1 and the reason.

    Ctrl-C stops following, and not the run. When the connection drops, it is opened again, eight times in a row over
    two minutes. With -o json each event is a line of JSON on stdout, the last one terminal, and the run's whole record
    follows.
    """
    follow(app, run, timeout=timeout or None, exit_status=exit_status)


def follow(app: App, ref: str, *, timeout: float | None, exit_status: bool) -> None:
    """Follow a run, tell of its progress, and emit its record; the part that `start --wait` shares."""
    from akka_optimize.actions.training.runs import wait as action

    following = action.Following(app.trainer, app.trainer.run(ref).run_id, timeout=timeout, say=app.note)
    try:
        app.emit_stream(following.events(), EVENT)
        run = following.record()
    except KeyboardInterrupt:
        raise Interrupted(following.left()) from None
    app.emit(run)
    action.require_ended(run)
    if exit_status:
        action.require_success(run)
