"""A leaf with arguments, numbers and a view."""

from __future__ import annotations

import click
from support.tree.records import RUN

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import finite_float, positive_int


@command(
    view=RUN,
    examples="""
        # Compare a run with a baseline
        akka-optimize runs compare 7d49 be2a

        # Wider windows
        akka-optimize runs compare 7d49 be2a --window 20
    """,
)
@click.argument("run")
@click.argument("baseline")
@click.option("--window", type=positive_int, default=10, help="Number of steps averaged into each row.")
@click.option("--margin", type=finite_float(minimum=0), default=0.03, help="Largest difference that still agrees.")
@click.option("--across-plans", is_flag=True, help="Compare runs of different plans.")
@click.pass_obj
def compare(app: App, run: str, baseline: str, window: int, margin: float, across_plans: bool) -> None:
    """Compare a run with a baseline.

    The second paragraph says more.
    """
    app.emit(app.trainer.run(run))
