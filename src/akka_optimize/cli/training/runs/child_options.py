"""What the commands that start children share: their options, and for a single child the way from request to record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from akka_optimize.cli.paramtypes import positive_int
from akka_optimize.cli.training.runs.wait import follow
from akka_optimize.errors import WrongUsage

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from akka_optimize.cli.app import App
    from akka_optimize.records import FanRequest

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

SNAPSHOT = "Snapshot of PARENT to start from, by ID or prefix"

exit_status = click.option(
    "--exit-status", is_flag=True, help="Exit with 5 unless the child completes; requires --wait"
)
submission_id = click.option(
    "--submission-id", metavar="string", help="Token of an earlier submission, to reach what it created"
)
wait = click.option("--wait", is_flag=True, help="Follow the child until it ends")


def dry_run(what: str) -> Decorator:
    """`--dry-run`; `what` is checked."""
    return click.option("--dry-run", is_flag=True, help=f"Check and resolve {what}, and stop")


def overrides(which: str) -> Decorator:
    """`--overrides`; `which` fields may change."""
    return click.option("--overrides", metavar="string", help=f"{which} to change, YAML or JSON; '-' reads stdin")


def restore(who: str) -> Decorator:
    """`--restore`; `who` takes something up."""
    return click.option(
        "--restore",
        type=click.Choice(["weights", "trainingState"]),
        default="weights",
        help=f"What {who} takes up from the snapshot: weights, or trainingState with optimizer and place in the rows",
    )


def snapshot(*, default: str | None = None) -> Decorator:
    """`--snapshot`, which has to be given unless it is said what the `default` is."""
    text = SNAPSHOT if default is None else f"{SNAPSHOT} (default {default})"
    return click.option("--snapshot", metavar="string", required=default is None, help=text)


def steps(who: str) -> Decorator:
    """`--steps`; `who` makes them."""
    return click.option("--steps", type=positive_int, required=True, help=f"Updates that {who} makes")


def check(app: App, *, dry_run: bool, exit_status: bool, overrides: str | None, wait: bool) -> None:
    """Raise WrongUsage for options of a single child that contradict each other; before any request."""
    if dry_run and wait:
        raise WrongUsage("--dry-run starts nothing that --wait could follow", hint="leave one of them out")
    if exit_status and not wait:
        raise WrongUsage("--exit-status tells how the child ended", hint="add --wait")
    if overrides == "-" and not (dry_run or app.settings.force):
        raise WrongUsage(
            "--overrides - reads stdin, which then cannot answer whether to start the child",
            hint="--force goes on without asking, --dry-run starts nothing",
        )


def start_child(app: App, asked: FanRequest, *, dry_run: bool, wait: bool, exit_status: bool) -> None:
    """Have the one child checked, ask, submit it, and emit it, or under `dry_run` what it resolves to."""
    from akka_optimize.actions.training.runs import branch as action

    if dry_run or not app.settings.force:
        checked = action.branch(app.trainer, asked, dry_run=True)
        for note in checked.notes:
            app.note(f"Note: {note}")
        if dry_run:
            app.emit(checked)
            return
        if checked.fan.new:
            app.confirm(f"Start a child run of {asked.steps} updates?")
    child = action.branch(app.trainer, asked, dry_run=False).points[0].child_run_id
    if wait:
        follow(app, child, timeout=None, exit_status=exit_status)
    else:
        app.emit(app.trainer.run(child))
