"""`training runs continue`."""

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
    name="continue",
    view=_view,
    examples="""
        # 50 more updates after the newest save
        akka-optimize training runs continue 7d496e82c3a15f04 --steps 50 --force --wait

        # After an earlier one, at another rate
        echo 'hyperparams: {optimizer: {learningRate: 5e-5}}' |
          akka-optimize training runs continue 7d496e82c3a15f04 \\
            --snapshot 3f2a9c71bd04 --steps 50 --overrides - --force
    """,
)
@click.argument("parent")
@child_options.dry_run("the child")
@child_options.exit_status
@include_diff
@child_options.overrides("Learning rate and hyperparams.training.validationFrequencySteps")
@child_options.snapshot(default="the newest that holds a training state")
@child_options.steps("the child")
@child_options.submission_id
@child_options.wait
@click.pass_obj
def continue_(
    app: App,
    parent: str,
    dry_run: bool,
    exit_status: bool,
    include_diff: bool,
    overrides: str | None,
    snapshot: str | None,
    steps: int,
    submission_id: str | None,
    wait: bool,
) -> None:
    """Start a child run that goes on where PARENT stood at a snapshot.

    The child takes up the whole training state: weights, optimizer, random generators and place in the rows. It trains
    for --steps more updates, which it counts from 1, under a schedule over those. It inherits the configuration and the
    devices of PARENT; only the learning rate and how often it validates may change. PARENT stays as it is.

    `resume` goes on with a run that was paused or lost its worker, as the same run; `branch` may change more.
    """
    from akka_optimize.actions.training.runs import continue_ as action

    child_options.check(app, dry_run=dry_run, exit_status=exit_status, overrides=overrides, wait=wait)
    asked = action.request(
        app.trainer,
        parent,
        overrides,
        snapshot=snapshot,
        steps=steps,
        submission_id=submission_id,
        origin=origin(include_diff, dry_run=dry_run),
    )
    if submission_id is None:
        app.note(action.announced(asked))
    child_options.start_child(app, asked, dry_run=dry_run, wait=wait, exit_status=exit_status)
