"""`training runs init`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command


@command(
    examples="""
        # A descriptor with every setting, its default and its range
        akka-optimize training runs init --workload triage --dataset triage-train > run.yaml
        akka-optimize training runs start -f run.yaml --dry-run
    """,
)
@click.option("--base-model", metavar="string", default="akka/byte-decoder-1m", help="Base model to adapt")
@click.option("--dataset", metavar="string", required=True, help="Dataset to train on, by name or hash")
@click.option("--name", metavar="string", help="Name of the run")
@click.option("--purpose", metavar="string", help="One sentence: why this run")
@click.option("--workload", metavar="string", required=True, help="Workload of the run, by name or ID")
@click.pass_obj
def init(app: App, base_model: str, dataset: str, name: str | None, purpose: str | None, workload: str) -> None:
    """Print a commented run descriptor.

    What you name is filled in; every other setting stands behind a comment sign, with its default and its range.
    """
    from akka_optimize.actions.training.runs.init import descriptor

    app.write(descriptor(workload=workload, base_model=base_model, dataset=dataset, name=name, purpose=purpose))
