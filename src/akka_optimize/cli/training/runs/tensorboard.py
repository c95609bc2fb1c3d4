"""`training runs tensorboard`."""

from __future__ import annotations

from pathlib import Path

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.cli.paramtypes import WholeNumber
from akka_optimize.output.views.tensorboard import MIRRORED


@command(
    view=MIRRORED,
    examples="""
        # Watch a run while it trains, at http://localhost:6006
        akka-optimize training runs tensorboard first

        # Two runs side by side
        akka-optimize training runs tensorboard first --dir curves/first --sync-only
        akka-optimize training runs tensorboard second --dir curves/second --sync-only
        tensorboard --logdir curves
    """,
)
@click.argument("run")
@click.option(
    "--dir",
    "directory",
    metavar="string",
    help="Where the event files go; by default a folder of the run's below the system's temporary one",
)
@click.option("--port", type=WholeNumber(0, 65535), default=6006, help="TensorBoard's port; 0 is any that is free")
@click.option("--sync-only", is_flag=True, help="Write the event files, and open nothing")
@click.pass_obj
def tensorboard(app: App, run: str, directory: str | None, port: int, sync_only: bool) -> None:
    """Write a run's curves as event files and open TensorBoard on them, until Ctrl-C.

    While the run trains, what is new is added every few seconds, and with --sync-only the command ends when the run
    does. The files hold loss, validation loss, gradient norm, learning rate, tokens and seconds of each step as 32-bit
    floats; every digit is in `runs metrics`.
    """
    from akka_optimize.actions.training.runs import tensorboard as action

    folder = None if directory is None else Path(directory)
    asked = None if sync_only else port
    with action.opened(app.trainer, run, directory=folder, port=asked, say=app.note) as mirror:
        if not sync_only:
            app.emit(mirror.record)
        mirror.follow()
        if sync_only:
            app.emit(mirror.record)
