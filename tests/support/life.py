"""A trainer's home with rows and a workload in it, runs of the arithmetic engine, and real worker processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from akka_optimize.core import plans
from akka_optimize.records import BaseModel, Division, Document, Run
from akka_optimize.trainer import base_models, datasets
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.engines import Job
from akka_optimize.trainer.home import Home

WORKLOAD, ROWS, MODEL = "greetings", "greetings-train", "akka/arithmetic"
PATIENCE_SECONDS = 30.0
TESTS = Path(__file__).parents[1]
DESCRIPTOR: Document = {
    "kind": "run",
    "workload": WORKLOAD,
    "baseModel": MODEL,
    "config": {"dataset": ROWS, "hyperparams": {"training": {"epochs": 1e6, "maxSteps": 20}}},
}


def row(question: str, answer: str) -> Document:
    """One chat row."""
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}


def open_home(folder: Path, rows: int = 40) -> tuple[Home, Catalog]:
    """A home with one workload and one dataset of short rows."""
    home = Home.open(folder / "home")
    catalog = Catalog.open(home)
    catalog.add_workload(WORKLOAD)
    add_rows(home, catalog, [row(f"question {i}", f"answer {i}") for i in range(rows)])
    return home, catalog


def add_rows(home: Home, catalog: Catalog, rows: list[Document], name: str = ROWS) -> str:
    """Register rows as a dataset; its hash."""
    source = home.path.with_name(f"{name}.jsonl")
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stored = datasets.store(home, source)
    counts = {"example_count": stored.example_count, "size_bytes": stored.size_bytes, "findings": stored.findings}
    return catalog.add_dataset(stored.hash, name=name, **counts).hash


def descriptor(settings: Mapping[str, Any] | None = None) -> Document:
    """A descriptor of 20 updates; `settings` change it by dotted path."""
    document = deepcopy(DESCRIPTOR)
    for path, value in (settings or {}).items():
        *parents, last = path.split(".")
        into = document
        for parent in parents:
            into = into.setdefault(parent, {})
        into[last] = value
    return document


def job(settings: Mapping[str, Any] | None = None, *, steps: int = 20, rows: int = 40, passes: int = 1) -> Job:
    """A job for an engine, from the default descriptor with `settings` changed, in this many passes an update."""
    from akka_optimize.core import descriptor as core_descriptor

    config = core_descriptor.resolve(descriptor(settings)).config
    model = model_entry()
    plan = plans.plan(config, dataset_hash="0" * 64, steps=steps, base_model=model.repository, revision=model.revision)
    size = config["hyperparams"]["training"]["sequencesPerUpdate"]
    division = Division(1, size // passes, passes, size)
    return Job("0" * 16, plan, division, [row(f"q{i}", f"a{i}") for i in range(rows)], model)


def model_entry() -> BaseModel:
    """The base model that trains nothing."""
    return base_models.find(MODEL)


def start_worker(home: Home, *, fault: str = "", step_seconds: float = 0.0) -> subprocess.Popen[bytes]:
    """A worker process, as `ensure_worker` starts it, whose process id the test knows."""
    knobs = {"AKKA_ARITHMETIC_FAULT": fault, "AKKA_ARITHMETIC_STEP_SECONDS": str(step_seconds)}
    command = [sys.executable, "-u", "-m", "akka_optimize.trainer.worker", str(home.path)]
    with (home.path / "worker.log").open("ab") as log:
        return subprocess.Popen(
            command, env=os.environ | knobs, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )


def finish(worker: subprocess.Popen[bytes]) -> int:
    """Wait for a worker to leave; its exit status."""
    return worker.wait(PATIENCE_SECONDS)


def until(condition: Callable[[], Any], what: str) -> None:
    """Wait for something that another process brings about."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def log_of(home: Home, run: Run) -> str:
    """What the worker printed for the run."""
    return (home.path / run.folder / "worker.log").read_text()
