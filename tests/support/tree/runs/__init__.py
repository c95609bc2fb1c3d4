"""Commands about runs."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

runs = CommandGroup(
    "runs",
    package="support.tree.runs",
    children={
        "compare": "Compare two runs",
        "engine-config": "A name with a hyphen",
        "fail": "Raise what it is told",
        "flood": "Print without end",
        "hang": "Wait for Ctrl-C",
        "init": "Emit no record",
        "list": "List runs",
        "start": "Ask first",
        "wait": "Shadow an inherited option",
    },
    help="Commands about runs.",
)
