"""`training runs branch`."""

from __future__ import annotations

from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.training.runs import child_options
from akka_optimize.cli.training.runs.origin_option import include_diff, origin
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
@child_options.dry_run("the child")
@child_options.exit_status
@include_diff
@child_options.overrides("Fields below config")
@child_options.restore("the child")
@child_options.snapshot()
@child_options.steps("the child")
@child_options.submission_id
@child_options.wait
@click.pass_obj
def branch(
    app: App,
    parent: str,
    dry_run: bool,
    exit_status: bool,
    include_diff: bool,
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

    child_options.check(app, dry_run=dry_run, exit_status=exit_status, overrides=overrides, wait=wait)
    asked = action.request(
        parent,
        overrides,
        snapshot=snapshot,
        steps=steps,
        restore=restore,
        submission_id=submission_id,
        origin=origin(include_diff, dry_run=dry_run),
    )
    if submission_id is None:
        app.note(action.announced(asked.submission_id))
    child_options.start_child(app, asked, dry_run=dry_run, wait=wait, exit_status=exit_status)
