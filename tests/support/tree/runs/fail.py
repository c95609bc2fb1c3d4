"""A leaf that raises what it is told."""

from __future__ import annotations

import click

from akka_optimize import errors
from akka_optimize.cli.group import command


@command()
@click.argument("kind")
def fail(kind: str) -> None:
    """Raise."""
    if kind == "KeyboardInterrupt":
        raise KeyboardInterrupt
    if kind == "ValueError":
        raise ValueError("some\x1bthing")
    raise getattr(errors, kind)("what was wrong", field="config.seed", hint="what to do")
