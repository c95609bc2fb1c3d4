"""`datasets`: chat examples, known by the hash of their rows."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

datasets = CommandGroup(
    "datasets",
    package=__name__,
    children={
        "create": "Register a file of chat examples",
        "get": "Show one dataset",
        "list": "List datasets",
        "name": "Give a dataset a name, or move the name to it",
    },
    help="Chat examples to train on. A dataset is known by the hash of its rows, in order; names can move.",
    examples="""
        # Register a file, and give it a name
        akka-optimize datasets create -f train.jsonl --name triage-train
    """,
)
