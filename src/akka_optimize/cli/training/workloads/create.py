"""`training workloads create`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.errors import WrongUsage
from akka_optimize.output.views.workload import WORKLOAD


@command(
    view=WORKLOAD,
    examples="""
        # A task, and what its models are to be scored on
        akka-optimize training workloads create triage --dataset triage-eval --grader json-label-match
    """,
)
@click.argument("name")
@click.option("--dataset", metavar="string", help="Evaluation dataset, by name or hash")
@click.option(
    "--grader",
    metavar="string",
    help="How answers are scored: json-label-match, model:MODEL or http:URL; requires --dataset",
)
@click.pass_obj
def create(app: App, name: str, dataset: str | None, grader: str | None) -> None:
    """Create a workload, under a name of lower-case letters, digits and hyphens."""
    if grader is not None and dataset is None:
        raise WrongUsage("--grader scores answers to a dataset", hint="add --dataset")
    app.emit(app.trainer.create_workload(name, dataset=dataset, grader=grader))
