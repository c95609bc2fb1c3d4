"""Datasets, workloads and finished runs with given curves, put straight into a catalog."""

from __future__ import annotations

import hashlib
import secrets
import struct
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from akka_optimize.core import plans
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.records import Dataset, Division, Document, Run, Workload
from akka_optimize.trainer.catalog import Catalog, NewRun

WORKLOAD = "support-triage"
DATASET_HASH = hashlib.sha256(b"rows that are nowhere").hexdigest()
CHUNK_STEPS = 20_000
DIVISION = Division(devices=1, sequences_per_pass=8, accumulation=1, sequences_per_update=8)
CONFIG: Document = {
    "dataset": "support",
    "method": "sft",
    "seed": 0,
    "maxSeqLength": 512,
    "model": {"precision": "FP32"},
    "hyperparams": {
        "lora": {"rank": 8, "alpha": 16.0, "dropout": 0.0},
        "optimizer": {"learningRate": 1e-4, "schedule": "linear", "maxGradNorm": 1.0},
        "training": {"sequencesPerUpdate": 8, "epochs": 1.0, "validationShare": 0.1},
    },
}

Curve = Sequence[float] | np.ndarray
Points = dict[tuple[str, int], list[tuple[int, bytes]]]  # by column and attempt: steps with their values' bits
Attempt = tuple[Sequence[int] | np.ndarray, Curve, Curve | None]  # steps, loss, gradient norm


def make_dataset(catalog: Catalog, *, hash: str = DATASET_HASH, name: str | None = None) -> Dataset:
    """A dataset that the catalog knows and whose rows are on no disk."""
    return catalog.add_dataset(hash, example_count=80, size_bytes=8000, name=name)


def make_workload(catalog: Catalog, name: str = WORKLOAD) -> Workload:
    """The workload of that name, created when it is asked for first."""
    known = [workload for workload in catalog.workloads() if workload.name == name]
    return known[0] if known else catalog.add_workload(name)


def new_run(catalog: Catalog, *, settings: Mapping[str, Any] | None = None, **stated: Any) -> NewRun:
    """A run to submit; `settings` change the default configuration by dotted path, `stated` any field of the run."""
    config = deepcopy(CONFIG)
    for path, value in (settings or {}).items():
        *parents, last = path.split(".")
        into = config
        for parent in parents:
            into = into[parent]
        into[last] = value
    steps = stated.get("steps", 20)
    dataset = make_dataset(catalog).hash
    plan = stated.get("plan") or plans.plan(
        config, dataset_hash=dataset, steps=steps, base_model="m", revision="0" * 64
    )
    run_id = stated.get("run_id") or secrets.token_hex(8)
    config_hash = plans.plan_hash(plan)[:12]
    defaults: dict[str, Any] = {
        "run_id": run_id,
        "workload_id": make_workload(catalog).workload_id,
        "method": config["method"],
        "base_model": "akka/tiny-decoder",
        "dataset": dataset,
        "config_hash": config_hash,
        "plan": plan,
        "config": config,
        "execution": {"gpus": 1, "sequencesPerPass": 8, "saveEvery": None},
        "stated": ("config.dataset",),
        "division": DIVISION,
        "seed": config["seed"],
        "steps": steps,
        "folder": f"runs/{run_id}-{config_hash}",
        "training_rows": 72,
        "validation_rows": 8,
        "skipped_rows": 0,
    }
    return NewRun(**(defaults | stated))


def make_run(
    catalog: Catalog,
    *,
    loss: Curve = (),
    grad_norm: Curve | None = None,
    at: Sequence[int] | np.ndarray | None = None,
    columns: Mapping[str, tuple[Sequence[int] | np.ndarray, Curve]] | None = None,
    attempts: Sequence[Attempt] = (),
    phase: str = "COMPLETED",
    merged: bool = True,
    **stated: Any,
) -> Run:
    """A run with these curves, in any phase; no worker and no folder has to do with it.

    `loss` and `grad_norm` were recorded at the steps `at`, by default 1, 2, …; `attempts` adds those of a second,
    third, … attempt, whatever those before it have there, and `columns` further columns of the first, each with steps
    of its own. `merged` stores the curves as they are at a run's end. The rest is `new_run`'s.
    """
    first = np.arange(1, len(loss) + 1) if at is None else np.asarray(at)
    curves = [(first, loss, grad_norm), *attempts]
    last = max((int(steps[-1]) for steps, _, _ in curves if len(steps)), default=0)
    run_id = catalog.add_run(new_run(catalog, **({"steps": max(last, 1)} | stated))).run_id
    for number in range(1, len(curves) + 1):
        catalog.set_phase(run_id, "QUEUED", only_from=("FAILED",))
        claimed = catalog.claim()
        assert claimed is not None, "no other run may wait in the queue"
        assert claimed.run_id == run_id, "no other run may wait in the queue"
        catalog.set_phase(run_id, "FAILED" if number < len(curves) else phase, only_from=("PREPARING",))
    for number, (steps, values, norms) in enumerate(curves, 1):  # after all claims, each of which would cut a curve
        further = dict(columns or {}) if number == 1 else {}
        together = {"loss": values} | ({} if norms is None else {"gradNorm": norms})
        together |= {name: column for name, (own, column) in further.items() if np.array_equal(own, steps)}
        chunks = chunked(number, steps, together)
        for name in further.keys() - together.keys():
            own, column = further[name]
            chunks += chunked(number, own, {name: column})
        catalog.record(run_id, chunks, observed_step=last, loss=float(values[-1]) if len(values) else None)
    if merged:
        catalog.merge_metrics(run_id)
    return catalog.run(run_id)


def chunked(
    attempt: int, steps: Sequence[int] | np.ndarray, columns: Mapping[str, Curve], size: int = CHUNK_STEPS
) -> list[pb.MetricsChunk]:
    """Columns that share their steps, as chunks of at most `size` steps."""
    return [
        pb.MetricsChunk(
            attempt=attempt,
            steps=np.asarray(steps[start : start + size]).tolist(),
            columns=[
                pb.MetricsColumn(name=name, values=np.asarray(values[start : start + size], float).tolist())
                for name, values in columns.items()
            ],
        )
        for start in range(0, len(steps), size)
    ]


def points(chunks: Iterable[pb.MetricsChunk]) -> Points:
    """The definition: every value of every column with its step, in the order in which they stand."""
    found: Points = {}
    for chunk in chunks:
        for column in chunk.columns:
            pairs = zip(column.steps or chunk.steps, column.values, strict=True)
            into = found.setdefault((column.name, chunk.attempt), [])
            into += [(step, struct.pack("<d", value)) for step, value in pairs]
    return found
