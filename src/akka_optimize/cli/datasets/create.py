"""`datasets create`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.output.views.dataset import DATASET


@command(
    view=DATASET,
    examples="""
        # One JSON object a line: {"messages": [{"role": "user", "content": …}, {"role": "assistant", "content": …}]}
        akka-optimize datasets create -f train.jsonl --name triage-train

        # From another program
        zcat train.jsonl.gz | akka-optimize datasets create -f - --jq .hash
    """,
)
@click.option("-f", "--file", metavar="string", required=True, help="Chat examples as JSONL; '-' reads stdin")
@click.option("--name", metavar="string", help="Name to give it; taken from whichever dataset had it")
@click.pass_obj
def create(app: App, file: str, name: str | None) -> None:
    """Register a file of chat examples, one JSON object a line.

    Every row is checked first, and the first one that is wrong is named by its line. Rows that are registered already
    reach the existing dataset.
    """
    from akka_optimize.actions.datasets.create import create as action

    app.emit(action(app.trainer, file, name=name))
