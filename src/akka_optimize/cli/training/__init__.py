"""`training`: everything that the trainer does."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

training = CommandGroup(
    "training",
    package=__name__,
    children={
        "base-models": "Pretrained models that runs adapt",
        "info": "What the trainer is, and how its start went",
        "runs": "Start runs, follow them, compare them",
        "snapshots": "What runs saved, and what is kept of it",
        "workloads": "Tasks that runs are grouped under",
    },
    aliases={"base-model": "base-models", "run": "runs", "snapshot": "snapshots", "workload": "workloads"},
    help="Everything that the trainer does.",
    examples="""
        # Is a trainer there?
        akka-optimize training info

        # Every run, newest first
        akka-optimize training runs list
    """,
)
