"""Runs beside one of them: in what does the plan of each differ from its plan?"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from akka_optimize.core import plans
from akka_optimize.records import ChangedRun, Page, Run


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def run(self, ref: str) -> Run:
        """One run by id, prefix or name."""
        ...

    def runs(self, *, phase: str | None = None, workload: str | None = None, limit: int = 0, offset: int = 0) -> Page:
        """Runs, newest first."""
        ...


def changed(
    trainer: Trainer, reference: str, *, phase: str | None, workload: str | None, limit: int, offset: int
) -> Page:
    """A page of ChangedRun, newest first, each beside the run `reference`, which may be among them.

    Raises NotFound and Ambiguous (run, workload), Invalid (phase).
    """
    beside = trainer.run(reference)
    page = trainer.runs(phase=phase, workload=workload, limit=limit, offset=offset)
    return replace(page, items=tuple(_changed(run, beside) for run in page.items))


def _changed(run: Run, beside: Run) -> ChangedRun:
    found = plans.changed(run.plan, beside.plan)
    return ChangedRun(run, tuple(found), plans.several(found), run.run_id == beside.run_id)
