"""Follow a run until it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from akka_optimize.errors import AnswerIsNo
from akka_optimize.records import Run, RunEvent


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def run(self, ref: str) -> Run:
        """One run by id, prefix or name."""
        ...

    def watch_run(self, ref: str, *, timeout: float | None = None) -> Iterator[RunEvent]:
        """Its progress until it ends."""
        ...


def follow(trainer: Trainer, run: str, *, timeout: float | None, told: Callable[[RunEvent], None]) -> Run:
    """Hand every event of `run` to `told`, and return the run once it has ended.

    `timeout` in seconds; None for no bound. Raises NotFound, Ambiguous, TimedOut (the run goes on).
    """
    run_id = trainer.run(run).run_id
    for event in trainer.watch_run(run_id, timeout=timeout):
        told(event)
    return trainer.run(run_id)


def require_success(run: Run) -> None:
    """Raise AnswerIsNo unless the run is COMPLETED."""
    if run.phase != "COMPLETED":
        raise AnswerIsNo(f"run {run.run_id} is {run.phase}", hint=f"akka-optimize training runs logs {run.run_id}")
