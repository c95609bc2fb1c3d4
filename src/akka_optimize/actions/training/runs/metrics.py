"""A run's curves as one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from akka_optimize.records import Metrics, MetricsTable, Run


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def run(self, ref: str) -> Run:
        """One run by id, prefix or name."""
        ...

    def metrics(self, ref: str, *, columns: Sequence[str] = (), last_steps: int = 0) -> Metrics:
        """The run's curves, of all steps or of the newest."""
        ...


def metrics(trainer: Trainer, run: str, *, limit: int | None) -> MetricsTable:
    """Every metric of `run`, side by side, over all steps or the newest `limit`. Raises NotFound, Ambiguous."""
    from akka_optimize.core.table import table

    run_id = trainer.run(run).run_id
    return table(run_id, trainer.metrics(run_id, last_steps=limit or 0), newest=limit)
