"""`training runs wait`."""

from __future__ import annotations

from collections.abc import Iterator

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

    Ctrl-C stops following, and not the run. With -o json each event is a line of JSON on stdout, the last one
    terminal, and the run's whole record follows.
    """
    follow(app, run, timeout=timeout or None, exit_status=exit_status)


def follow(app: App, ref: str, *, timeout: float | None, exit_status: bool) -> None:
    """Follow a run, tell of its progress, and emit its record; the part that `start --wait` shares."""
    from akka_optimize.actions.training.runs import wait as action

    run_id = app.trainer.run(ref).run_id
    try:
        app.emit_stream(_told(app, run_id, timeout), EVENT)
    except KeyboardInterrupt:
        raise Interrupted(f"the run goes on; to follow it again: akka-optimize training runs wait {run_id}") from None
    run = app.trainer.run(run_id)
    app.emit(run)
    if exit_status:
        action.require_success(run)


def _told(app: App, run_id: str, timeout: float | None) -> Iterator[object]:
    return app.trainer.watch_run(run_id, timeout=timeout)
