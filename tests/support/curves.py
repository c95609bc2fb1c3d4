"""Made-up curves, runs and a trainer that serves them, for what compares runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import settings

from akka_optimize.records import Column, Division, Metrics, Run

laws = settings(deadline=None, max_examples=100)  # a busy machine is no failure


def column(
    values: Iterable[float], steps: Iterable[int] | None = None, attempts: Iterable[int] | None = None
) -> Column:
    """A column with steps from 1 on and one attempt, unless stated."""
    numbers = np.array(list(values), float)
    ordinal = np.arange(1, len(numbers) + 1) if steps is None else np.array(list(steps), np.int64)
    ones = np.ones(len(numbers), np.int64) if attempts is None else np.array(list(attempts), np.int64)
    return Column(ordinal, numbers, ones)


def a_run(run_id: str, **fields: object) -> Run:
    """A finished supervised run with the given fields."""
    usual = {
        "run_id": run_id, "name": None, "purpose": None, "description": None, "config_name": None,
        "phase": "COMPLETED", "workload": "triage", "workload_id": "w", "method": "sft", "base_model": "akka/tiny",
        "dataset": "d" * 64, "dataset_name": "train", "grader": None, "submission_id": None,
        "config_hash": "e14ea5ff5f88", "plan": {"seed": 0, "source": None}, "config": {}, "execution": {},
        "environment": {"packages": {"torch": "2.13"}}, "stated": (), "division": Division(1, 8, 1, 8), "seed": 0,
        "steps": 40, "observed_step": 40, "saved_step": None, "attempt": 1, "loss": None, "validation_loss": None,
        "failure_code": None, "failure_reason": None, "resumable": False, "created_at": "2026-01-01T00:00:00Z",
        "started_at": None, "ended_at": None, "folder": "", "training_rows": 8, "validation_rows": 0,
        "skipped_rows": 0,
    }  # fmt: skip
    return Run(**(usual | fields))


class FakeTrainer:
    """Serves the runs it was given, by id, and their curves."""

    def __init__(self, *runs: tuple[Run, dict[str, Column]]) -> None:
        self.held = {run.run_id: (run, columns) for run, columns in runs}
        self.asked: list[str] = []

    def run(self, ref: str) -> Run:
        return next(run for run_id, (run, _) in self.held.items() if run_id.startswith(ref))

    def metrics(self, ref: str, *, columns: Sequence[str] = ()) -> Metrics:
        self.asked.append(ref)
        return Metrics({name: found for name, found in self.held[ref][1].items() if name in columns})
