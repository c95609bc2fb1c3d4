"""`training runs compare`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import finite_float, positive_int
from akka_optimize.output.views.comparison import COMPARISON


@command(
    view=COMPARISON,
    examples="""
        # A run beside a baseline of the same plan
        akka-optimize training runs compare 7d496e82c3a15f04 be2a310245ea0c11

        # Average over more steps, and allow less
        akka-optimize training runs compare 7d496e82c3a15f04 be2a310245ea0c11 \\
          --window 20 --margin 0.02

        # Where do the two part? null if nowhere
        akka-optimize training runs compare 7d496e82c3a15f04 be2a310245ea0c11 \\
          --jq .parting

        # In a script: 5 when they part, 1 when it cannot be judged
        akka-optimize training runs compare candidate reference --exit-status -q > comparison.txt
    """,
)
@click.argument("run")
@click.argument("baseline")
@click.option("--across-plans", is_flag=True, help="Compare runs of different plans too, and report the differences")
@click.option("--exit-status", is_flag=True, help="Exit with 5 when the two part, with 1 when it cannot be judged")
@click.option(
    "--margin",
    type=finite_float(minimum=0),
    default=0.03,
    help="Mean loss difference over a full window, either way, above which the runs part",
)
@click.option(
    "--spike-factor",
    type=finite_float(above=0),
    default=10.0,
    help="Least multiple of the run's median gradient norm that is a spike",
)
@click.option("--window", type=positive_int, default=10, help="Steps averaged in each row")
@click.pass_obj
def compare(
    app: App,
    run: str,
    baseline: str,
    across_plans: bool,
    exit_status: bool,
    margin: float,
    spike_factor: float,
    window: int,
) -> None:
    """Compare the training loss of a supervised run with a baseline's, over windows of steps.

    Two runs of one plan, seed included, train on the same rows at every step: where their losses differ, they have
    learned something else, and did not merely draw other rows. For each window of --window steps the mean
    difference is shown, positive where RUN is worse. A step is a gradient spike when its gradient norm before clipping
    is at least --spike-factor times the median of its own run. The two part at the first full window whose mean
    difference, either way, is above --margin; later
    windows above it are marked as beyond.

    The backward pass is not deterministic everywhere, so that two runs of one plan can differ, and one spike can move a
    loss for many steps: before you conclude anything from a parting, compare repeated runs of the same plan.

    Runs of different plans (another dataset, seed, base model, number of sequences in an update, or any other setting)
    are refused, since their losses differ for that reason too; --across-plans compares them all the same, and reports
    in what they differ. Runs that only divide an update differently, over devices, passes and accumulation, train on
    the same rows: they are compared, and both divisions are shown. Reinforcement runs are refused: they record a reward
    at each step, and no training loss.
    """
    from akka_optimize.actions.training.runs import compare as action

    comparison = action.compare(
        app.trainer,
        run,
        baseline,
        window=window,
        margin=margin,
        spike_factor=spike_factor,
        across_plans=across_plans,
    )
    app.emit(comparison)
    if exit_status:
        action.require_no_parting(comparison)
