"""The command `akka-trainer`: what is done on the machine that trains. Exit codes are those of `akka-optimize`."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from akka_optimize import __version__, errors
from akka_optimize.trainer.commands.flags import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAM = "akka-trainer"
COMMANDS = {
    "serve": "Serve a home over the network, in the foreground",
    "start": "Serve a home over the network, in the background",
    "stop": "End the service of a home",
    "status": "Say whether a home is served, and where",
    "logs": "Print what a service in the background printed",
    "work": "Carry out queued runs in the foreground",
}


class Commands(click.Group):
    """A group whose children are imported when they are used."""

    def __init__(self, *args: object, children: Mapping[str, str], **attributes: object) -> None:
        super().__init__(*args, **attributes)  # type: ignore[arg-type]
        self.children = children

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The children's names, in the order of a service's life."""
        del ctx
        return list(self.children)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one child; None when there is none."""
        del ctx
        if cmd_name not in self.children:
            return None
        command = getattr(import_module(f"akka_optimize.trainer.commands.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help, which imports none of them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(self.children.items()))


@click.command(cls=Commands, children=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def root() -> None:
    """Serve and train what is in a trainer's home."""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """The console script `akka-trainer`."""
    try:
        sys.exit(root.main(args=argv, prog_name=PROGRAM, standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(errors.Interrupted.exit_code)
    except errors.AkkaError as error:
        say(f"Error: {error.message}")
        if error.hint:
            say(f"  hint: {error.hint}")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
