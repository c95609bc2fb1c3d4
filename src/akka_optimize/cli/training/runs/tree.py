"""`training runs tree`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import natural_int
from akka_optimize.output.views.lineage import TREE


@command(
    view=TREE,
    examples="""
        # Everything that came of a run
        akka-optimize training runs tree 7d496e82c3a15f04
    """,
)
@click.argument("root")
@click.option("--depth", type=natural_int, default=0, help="Generations below ROOT; 0 shows all")
@click.pass_obj
def tree(app: App, root: str, depth: int) -> None:
    """Show a run and all runs that descend from it, indented by generation."""
    app.emit(app.trainer.descendants(root, depth=depth))
