"""The plan of a run once more, some times, under one token."""

from __future__ import annotations

from typing import Protocol

from akka_optimize.actions.training.runs import unknown
from akka_optimize.actions.training.runs.unknown import announced, token
from akka_optimize.records import Origin, Repeats

__all__ = ["announced", "repeat", "token"]


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def repeat_run(self, ref: str, *, times: int, submission_id: str, origin: Origin | None = None) -> Repeats:
        """Start a run's plan again."""
        ...


def repeat(trainer: Trainer, run: str, *, times: int, submission_id: str, origin: Origin | None) -> Repeats:
    """Start the plan of a run again, or reach the runs that the token has started.

    Raises what the trainer refuses; Unreachable, TimedOut and Interrupted, with the token, when it is not known whether
    the submission arrived.
    """
    again = f"it may have arrived; the same command with --submission-id {submission_id} starts no run twice"
    with unknown.outcome(again):
        return trainer.repeat_run(run, times=times, submission_id=submission_id, origin=origin)
