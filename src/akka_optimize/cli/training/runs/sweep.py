"""`training runs sweep`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.training.runs import child_options
from akka_optimize.cli.training.runs.origin_option import include_diff, origin
from akka_optimize.errors import WrongUsage
from akka_optimize.output.views.sweep import SWEEP


@command(
    view=SWEEP,
    examples="""
        # See the fan before anything is submitted
        akka-optimize training runs sweep 7d496e82c3a15f04 \\
          --snapshot 3f2a9c71bd04 --steps 200 --grid learning-rates.yaml --dry-run

        # Submit it
        akka-optimize training runs sweep 7d496e82c3a15f04 \\
          --snapshot 3f2a9c71bd04 --steps 200 --grid learning-rates.yaml

        # Submit it from a script, and keep the IDs of its child runs
        akka-optimize training runs sweep 7d496e82c3a15f04 \\
          --snapshot 3f2a9c71bd04 --steps 200 --grid learning-rates.yaml \\
          --force --jq '.points[].childRunId'

        # The reply was lost, or a value was added: under one token no child is started twice
        akka-optimize training runs sweep 7d496e82c3a15f04 \\
          --snapshot 3f2a9c71bd04 --steps 200 --grid learning-rates.yaml \\
          --submission-id 5f0c7a1e9b3d
    """,
)
@click.argument("parent")
@click.option("--description", metavar="string", help="Description that every new child run gets")
@child_options.dry_run("every point")
@click.option("-g", "--grid", metavar="string", required=True, help="Grid of axes, YAML or JSON; '-' reads stdin")
@include_diff
@child_options.restore("a child run")
@child_options.snapshot()
@child_options.steps("each child run")
@child_options.submission_id
@click.pass_obj
def sweep(
    app: App,
    parent: str,
    description: str | None,
    dry_run: bool,
    grid: str,
    include_diff: bool,
    restore: str,
    snapshot: str,
    steps: int,
    submission_id: str | None,
) -> None:
    """Start a child run of PARENT for each point of a grid, all from one snapshot.

    The grid lists axes, and its points are their product, the last axis varying fastest:

        axes:
          - path: hyperparams.optimizer.learningRate
            values: [1.0e-5, 5.0e-5, 2.0e-4]
          - path: hyperparams.lora.rank
            values: [8, 16]

    A path names a field below config, as an override document would; values keep the type they are written with. No
    two axes may set one field, or one a part of what the other sets. A child run inherits everything else from PARENT:
    its resolved configuration, workload, base model, devices and grader. Its label is what its point sets.

    All points are checked together before any is submitted, and then all are submitted or none: a faulty grid costs
    nothing, and every fault is reported. At most 50 runs can branch from one snapshot of a run, as one comparison
    scores no more; those that are there already count.

    Each submission has a token, which you choose with --submission-id or find on stderr and in the result. The ID of a
    child run follows from the token and the values of its point, so that a dry run shows the IDs in advance, and a
    submission under the token of an earlier one starts what is new in the grid and reaches, for every other point, the
    child run that exists: sent twice, it starts nothing twice.
    """
    from akka_optimize.actions.training.runs import sweep as action

    if grid == "-" and not (dry_run or app.settings.force):
        raise WrongUsage(
            "--grid - reads the grid from stdin, which then cannot answer whether to submit it",
            hint="--force goes on without asking, --dry-run submits nothing",
        )
    address = ["--trainer-url", app.settings.trainer_url] if app.settings.trainer_url else []
    asked = action.request(
        parent,
        snapshot=snapshot,
        steps=steps,
        grid=grid,
        restore=restore,
        submission_id=submission_id,
        description=description,
        origin=origin(include_diff, dry_run=dry_run),
        repeated=[
            *address,
            *(["--force"] if app.settings.force else []),
            *(["--include-diff"] if include_diff else []),
        ],
    )
    app.emit(action.sweep(app.trainer, asked, dry_run=dry_run, told=app.note, confirm=app.confirm))
