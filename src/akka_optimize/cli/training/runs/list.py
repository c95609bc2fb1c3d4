"""`training runs list`."""

from __future__ import annotations

from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import WholeNumber, natural_int
from akka_optimize.output.view import View
from akka_optimize.output.views.run import RUN
from akka_optimize.output.views.run_list import CHANGED, HISTORY


def _view(parameters: dict[str, Any]) -> View:
    if parameters.get("changed_from"):
        return CHANGED
    return HISTORY if parameters.get("workload") else RUN


@command(
    view=_view,
    examples="""
        # Runs that have not ended
        akka-optimize training runs list --phase open

        # Since when did a workload get worse?
        akka-optimize training runs list --workload triage

        # What was tried beside a run, and what of it changed one setting alone
        akka-optimize training runs list --changed-from first
        akka-optimize training runs list --changed-from first \\
          --jq '.runs[] | select(.severalDifferences | not) | .runId'

        # IDs alone, for a script
        akka-optimize training runs list --jq '.runs[].runId'
    """,
)
@click.option("--changed-from", metavar="string", help="Show in what each plan differs from that of this run")
@click.option("--limit", type=WholeNumber(1, 1000), default=100, help="Most runs to list")
@click.option("--offset", type=natural_int, default=0, help="Runs to leave out, from the newest")
@click.option("--phase", metavar="string", help="Only runs of this phase, or open for those that have not ended")
@click.option("--workload", metavar="string", help="Only runs of this workload, by name or ID")
@click.pass_obj
def list(app: App, changed_from: str | None, limit: int, offset: int, phase: str | None, workload: str | None) -> None:
    """List runs, newest first.

    With --workload the losses over the held-out rows stand in the order of time, the newest and the best of each run.
    With --changed-from it is shown in what each plan differs from that of one run; where several settings differ at
    once, a comparison of the two cannot tell which one did what, and that is marked.
    """
    if changed_from is None:
        app.emit(app.trainer.runs(phase=phase, workload=workload, limit=limit, offset=offset))
        return
    from akka_optimize.actions.training.runs import changed as action

    page = action.changed(app.trainer, changed_from, phase=phase, workload=workload, limit=limit, offset=offset)
    app.emit(page)
