"""`training workloads`: tasks that runs are grouped under."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

workloads = CommandGroup(
    "workloads",
    package=__name__,
    children={
        "create": "Create a workload",
        "get": "Show one workload",
        "list": "List workloads",
    },
    help="Tasks that runs are grouped under.",
    examples="""
        # Every run belongs to a workload
        akka-optimize training workloads create triage
    """,
)
