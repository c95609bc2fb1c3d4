"""`training runs start`."""

from __future__ import annotations

from typing import Any

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.training.runs.origin_option import include_diff, origin
from akka_optimize.cli.training.runs.wait import follow
from akka_optimize.errors import WrongUsage
from akka_optimize.output.view import View
from akka_optimize.output.views.resolved_run import RESOLVED, VALIDATED
from akka_optimize.output.views.run import RUN


def _view(parameters: dict[str, Any]) -> View:
    if not parameters.get("dry_run"):
        return RUN
    return RESOLVED if parameters.get("show_resolved") else VALIDATED


@command(
    view=_view,
    examples="""
        # Is it a valid descriptor, and what does it resolve to?
        akka-optimize training runs start -f run.yaml --dry-run --show-resolved

        # Start it without being asked, and follow it to its end
        akka-optimize training runs start -f run.yaml --force --wait --exit-status

        # The same plan at another learning rate
        akka-optimize training runs start -f run.yaml \\
          --set name=hotter --set config.hyperparams.optimizer.learningRate=1e-2 --force

        # Keep the ID
        RUN=$(akka-optimize training runs start -f run.yaml --force --jq .runId)
    """,
)
@click.option("-f", "--file", metavar="string", required=True, help="Descriptor, YAML or JSON; '-' reads stdin")
@click.option("--dry-run", is_flag=True, help="Check the descriptor and stop")
@click.option("--exit-status", is_flag=True, help="Exit with 5 unless the run completes; requires --wait")
@include_diff
@click.option("--set", "assignments", metavar="path=value", multiple=True, help="Set one field of the descriptor")
@click.option("--show-resolved", is_flag=True, help="Show every setting with its default; requires --dry-run")
@click.option("--wait", is_flag=True, help="Follow the run until it ends")
@click.pass_obj
def start(
    app: App,
    file: str,
    dry_run: bool,
    exit_status: bool,
    include_diff: bool,
    assignments: tuple[str, ...],
    show_resolved: bool,
    wait: bool,
) -> None:
    """Start a run from a descriptor.

    The descriptor is checked as a whole before anything is stored, and every fault is reported. An equal descriptor
    starts another run of the same plan, unless both carry one submissionId: then the second reaches the run that the
    first started. One that carries none gets one, which the record shows and an error names when the reply is lost.
    """
    from akka_optimize.actions.training.runs import start as action

    _check(dry_run=dry_run, show_resolved=show_resolved, wait=wait, exit_status=exit_status)
    document = action.descriptor(file, assignments)
    here = origin(include_diff, dry_run=dry_run)
    if dry_run:
        app.emit(app.trainer.validate_run(document))
        return
    if not app.settings.force or document.get("submissionId") is not None:
        resolved = app.trainer.validate_run(document)
        for note in resolved.notes:
            app.note(f"Note: {note}")
        app.confirm(f"Start {resolved.steps} updates under plan {resolved.config_hash}?")
    run = action.start(app.trainer, document, origin=here)
    if wait:
        follow(app, run.run_id, timeout=None, exit_status=exit_status)
    else:
        app.emit(run)


def _check(*, dry_run: bool, show_resolved: bool, wait: bool, exit_status: bool) -> None:
    if show_resolved and not dry_run:
        raise WrongUsage("--show-resolved shows what a dry run resolved", hint="add --dry-run")
    if dry_run and wait:
        raise WrongUsage("--dry-run starts nothing that --wait could follow", hint="leave one of them out")
    if exit_status and not wait:
        raise WrongUsage("--exit-status tells how the run ended", hint="add --wait")
