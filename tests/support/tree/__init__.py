"""A small tree of commands, each using one ability of the frame."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

tree = CommandGroup(
    "akka-optimize",
    package="support.tree",
    children={"runs": "Some runs", "broken": "A module that cannot be imported"},
    aliases={"run": "runs"},
    help="A tree.",
)
