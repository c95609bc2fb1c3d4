"""A small tree of commands, each using one ability of the frame."""

from __future__ import annotations

import sys
from typing import NoReturn

from akka_optimize.cli.app import App
from akka_optimize.cli.group import CommandGroup
from akka_optimize.cli.main import run

tree = CommandGroup(
    "akka-optimize",
    package="support.tree",
    children={"runs": "Some runs", "broken": "A module that cannot be imported"},
    aliases={"run": "runs"},
    help="A tree.",
)


def main() -> NoReturn:
    """The small tree as a program of its own, with the client of `records`."""

    def client(_: str | None, __: float) -> object:
        from support.tree.records import Client

        return Client()

    sys.exit(run(sys.argv[1:], app=App(client), tree=tree))
