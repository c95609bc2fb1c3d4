"""`training snapshots`: what runs saved."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

snapshots = CommandGroup(
    "snapshots",
    package=__name__,
    children={
        "get": "Show one snapshot",
        "pin": "Hold a snapshot against sweeping",
        "unpin": "Drop the pin of a snapshot",
    },
    help="What runs saved. `training runs snapshots RUN` lists those of one run.",
    examples="""
        # Keep one, whatever its run's keep counts say
        akka-optimize training snapshots pin 3f2a9c71bd04
    """,
)
