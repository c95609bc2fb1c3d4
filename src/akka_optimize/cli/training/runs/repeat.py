"""`training runs repeat`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import WholeNumber
from akka_optimize.cli.training.runs.origin_option import include_diff, origin
from akka_optimize.cli.training.runs.wait import follow
from akka_optimize.errors import Interrupted, WrongUsage
from akka_optimize.output.views.event import EVENT
from akka_optimize.output.views.run import RUN

if TYPE_CHECKING:
    from akka_optimize.records import Run


@command(
    view=RUN,
    examples="""
        # Does the plan give the same curve again?
        AGAIN=$(akka-optimize training runs repeat first --force --wait -q --jq .runId)
        akka-optimize training runs compare $AGAIN first

        # How far do runs of one plan part by themselves?
        akka-optimize training runs repeat first --times 5 --force --jq '.runs[].runId'
    """,
)
@click.argument("run")
@click.option("--exit-status", is_flag=True, help="Exit with 5 unless every one of them completes; requires --wait")
@include_diff
@click.option("--submission-id", metavar="string", help="Token of an earlier submission, to reach what it created")
@click.option("--times", type=WholeNumber(1, 50), default=1, help="Runs to start")
@click.option("--wait", is_flag=True, help="Follow them until they end, one after the other")
@click.pass_obj
def repeat(
    app: App, run: str, exit_status: bool, include_diff: bool, submission_id: str | None, times: int, wait: bool
) -> None:
    """Start the plan of RUN again, from what is on record of it.

    Nothing is typed again and nothing resolved anew: plan and hash, seed, rows, base model, division, execution,
    workload and grader are those of RUN, and for a child run the snapshot that it started from. On one CPU device the
    curve is the same bit for bit; where this trainer's environment differs from the one that RUN recorded, each
    difference is told on stderr, and whether it can move digits.

    One run is printed as it is, several as a list. They go under one token, which you choose with --submission-id or
    find on stderr: sent twice, nothing is started twice.
    """
    from akka_optimize.actions.training.runs import repeat as action

    if exit_status and not wait:
        raise WrongUsage("--exit-status tells how the runs ended", hint="add --wait")
    token = action.token(submission_id)
    here = origin(include_diff)
    if submission_id is None:
        app.note(action.announced(token))
    if not app.settings.force:
        found = app.trainer.run(run)
        again = "again" if times == 1 else f"{times} times more"
        app.confirm(f"Start the {found.steps} updates of plan {found.config_hash} {again}?")
        run = found.run_id
    started = action.repeat(app.trainer, run, times=times, submission_id=token, origin=here)
    for note in started.notes:
        app.note(f"Note: {note}")
    if not wait:
        app.emit(started.runs[0] if times == 1 else started.runs)
    elif times == 1:
        follow(app, started.runs[0].run_id, timeout=None, exit_status=exit_status)
    else:
        _follow_all(app, started.runs, exit_status=exit_status)


def _follow_all(app: App, runs: tuple[Run, ...], *, exit_status: bool) -> None:
    from akka_optimize.actions.training.runs import wait as action

    ended = []
    for run in runs:
        following = action.Following(app.trainer, run.run_id, timeout=None, say=app.note)
        try:
            app.emit_stream(following.events(), EVENT)
            ended.append(following.record())
        except KeyboardInterrupt:
            raise Interrupted(following.left()) from None
    app.emit(tuple(ended))
    if exit_status:
        for run in ended:
            action.require_success(run)
