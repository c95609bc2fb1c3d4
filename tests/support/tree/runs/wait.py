"""A leaf that shadows inherited options, and streams."""

from __future__ import annotations

import click
from support.tree.records import RUN, SHORT

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import GoDuration


@command(view=RUN)
@click.option("--timeout", type=GoDuration(zero=True), default="0", help="Longest wait; 0 waits for ever.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@click.pass_obj
def wait(app: App, timeout: float, quiet: bool) -> None:
    """Wait."""
    if not quiet:
        app.emit_stream(app.trainer.events(), SHORT)
    app.note(f"waited {timeout} of {app.settings.timeout}, quiet {app.settings.quiet}")
    app.emit(app.trainer.run("7d49"))
