"""How a workload is shown."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View

WORKLOAD = View(
    name="workload",
    plural="workloads",
    fields=(
        Field("workloadId", "its ID, 16 hex digits"),
        Field("name", "its name"),
        Field("dataset", "hash of the dataset that its models are evaluated on"),
        Field("grader", "how their answers are scored"),
        Field("createdAt", "when it was created"),
        Field("runCount", "runs that belong to it"),
    ),
    columns=(
        Column("WORKLOAD", "workloadId"),
        Column("NAME", "name"),
        Column("RUNS", "runCount"),
        Column("CREATED", "createdAt"),
    ),
    block=(
        Column("Workload", "workloadId"),
        Column("Name", "name"),
        Column("Evaluated on", "dataset"),
        Column("Grader", "grader"),
        Column("Runs", "runCount"),
        Column("Created", "createdAt"),
    ),
)
