"""`training runs branches`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import WholeNumber, natural_int
from akka_optimize.output.views.lineage import BRANCHES


@command(
    view=BRANCHES,
    examples="""
        # Every child run, newest first
        akka-optimize training runs branches 7d496e82c3a15f04

        # Those of one sweep
        akka-optimize training runs branches 7d496e82c3a15f04 --submission 5f0c7a1e9b3d \\
          --jq '.branches[] | [.childRunId, .phase, .configName] | @tsv'
    """,
)
@click.argument("parent")
@click.option("--limit", type=WholeNumber(1, 100), default=50, help="Most child runs to list")
@click.option("--offset", type=natural_int, default=0, help="Child runs to leave out, from the newest")
@click.option("--submission", metavar="string", help="Only those of the submission with this token")
@click.pass_obj
def branches(app: App, parent: str, limit: int, offset: int, submission: str | None) -> None:
    """List the child runs of PARENT, newest first."""
    app.emit(app.trainer.branches(parent, submission_id=submission, limit=limit, offset=offset))
