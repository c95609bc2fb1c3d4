"""`training runs`: one operation each."""

from __future__ import annotations

from akka_optimize.cli.group import CommandGroup

runs = CommandGroup(
    "runs",
    package=__name__,
    children={
        "annotate": "Add a comment to a run, or change its label",
        "ancestry": "Show the chain of ancestors of a run",
        "branch": "Start a child run from a snapshot",
        "branches": "List the child runs of a run",
        "cancel": "Stop a run, or all of a submission",
        "compare": "Compare a supervised run's training loss with a baseline, step by step",
        "continue": "Start a child run that goes on where a run stood",
        "delete": "Delete a run that has ended",
        "engine-config": "Show what a run's engine was asked for, and made of it",
        "engine-runtime": "Show what a run's engine decided and used",
        "export": "Write a run's folder, and those it descends from, to a directory",
        "get": "Show one run",
        "hparams": "Show the settings that decided a run's arithmetic",
        "import": "Take exported folders of runs into the catalog",
        "init": "Write a descriptor to begin with",
        "list": "List runs",
        "logs": "Print what a run's worker printed",
        "metrics": "Show a run's curves, step by step",
        "pause": "Pause a run, to go on with it later",
        "repeat": "Start the plan of a run again",
        "resume": "Go on with a run that was paused or lost its worker",
        "snapshots": "List what a run saved",
        "start": "Start a run from a descriptor",
        "sweep": "Start a child run for each point of a grid, from one snapshot",
        "tensorboard": "Write a run's curves as event files and open TensorBoard",
        "tree": "Show a run and all that descend from it",
        "verify": "Check a run's record against itself, file by file",
        "wait": "Follow a run until it ends",
    },
    help="Runs, their curves and what they saved. Equal descriptors make different runs of one plan.",
    examples="""
        # From a descriptor to a comparison
        akka-optimize training runs init --workload triage --dataset triage-train > run.yaml
        akka-optimize training runs start -f run.yaml --set name=first --force --wait
        akka-optimize training runs start -f run.yaml --set name=second --force --wait
        akka-optimize training runs compare first second
    """,
)
