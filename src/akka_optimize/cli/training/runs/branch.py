"""`training runs branch`."""

from __future__ import annotations

from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import positive_int
from akka_optimize.cli.training.runs.wait import follow
from akka_optimize.errors import WrongUsage
from akka_optimize.output.view import View
from akka_optimize.output.views.branch import BRANCH
from akka_optimize.output.views.run import RUN


def _view(parameters: dict[str, Any]) -> View:
    return BRANCH if parameters.get("dry_run") else RUN


@command(
    view=_view,
    examples="""
        # Go on from a snapshot's weights for 50 updates, at another rate
        echo 'hyperparams: {optimizer: {learningRate: 5e-5}}' |
          akka-optimize training runs branch 7d496e82c3a15f04 \\
            --snapshot 3f2a9c71bd04 --steps 50 --overrides - --force

        # Go on as if it had never stopped: optimizer, generators and place in the rows
        akka-optimize training runs branch 7d496e82c3a15f04 \\
          --snapshot 3f2a9c71bd04 --steps 50 --restore trainingState --force --wait
    """,
)
@click.argument("parent")
@click.option("--dry-run", is_flag=True, help="Check and resolve the child, and stop")
@click.option("--exit-status", is_flag=True, help="Exit with 5 unless the child completes; requires --wait")
@click.option("--overrides", metavar="string", help="Fields below config to change, YAML or JSON; '-' reads stdin")
@click.option(
    "--restore",
    type=click.Choice(["weights", "trainingState"]),
    default="weights",
    help="What the child takes up from the snapshot: weights, or trainingState with optimizer and place in the rows",
)
@click.option("--snapshot", metavar="string", required=True, help="Snapshot of PARENT to start from, by ID or prefix")
@click.option("--steps", type=positive_int, required=True, help="Updates that the child makes")
@click.option("--submission-id", metavar="string", help="Token of an earlier submission, to reach what it created")
@click.option("--wait", is_flag=True, help="Follow the child until it ends")
@click.pass_obj
def branch(
    app: App,
    parent: str,
    dry_run: bool,
    exit_status: bool,
    overrides: str | None,
    restore: str,
    snapshot: str,
    steps: int,
    submission_id: str | None,
    wait: bool,
) -> None:
    """Start a child run of PARENT from one of its snapshots.

    The child inherits PARENT's resolved configuration, workload, base model, devices and grader; --overrides changes
    fields of the configuration, written as they are nested there. It counts its own updates, from 1 to --steps.

    With --restore weights it takes up the adapter's function, whatever its own rank and scale, and begins everything
    else anew. With --restore trainingState it goes on where the snapshot stood, and only the learning rate may change.
    """
    from akka_optimize.actions.training.runs import branch as action

    _check(app, dry_run=dry_run, exit_status=exit_status, overrides=overrides, wait=wait)
    asked = action.request(
        parent, overrides, snapshot=snapshot, steps=steps, restore=restore, submission_id=submission_id
    )
    if submission_id is None:
        app.note(action.announced(asked.submission_id))
    if dry_run or not app.settings.force:
        checked = action.branch(app.trainer, asked, dry_run=True)
        for note in checked.notes:
            app.note(f"Note: {note}")
        if dry_run:
            app.emit(checked)
            return
        if checked.fan.new:
            app.confirm(f"Start a child run of {steps} updates?")
    child = action.branch(app.trainer, asked, dry_run=False).points[0].child_run_id
    if wait:
        follow(app, child, timeout=None, exit_status=exit_status)
    else:
        app.emit(app.trainer.run(child))


def _check(app: App, *, dry_run: bool, exit_status: bool, overrides: str | None, wait: bool) -> None:
    if dry_run and wait:
        raise WrongUsage("--dry-run starts nothing that --wait could follow", hint="leave one of them out")
    if exit_status and not wait:
        raise WrongUsage("--exit-status tells how the child ended", hint="add --wait")
    if overrides == "-" and not (dry_run or app.settings.force):
        raise WrongUsage(
            "--overrides - reads stdin, which then cannot answer whether to start the child",
            hint="--force goes on without asking, --dry-run starts nothing",
        )
