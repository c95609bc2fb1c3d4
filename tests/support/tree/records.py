"""Records and views of the small tree, and a client that hands them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from akka_optimize.output.view import Column, Field, View
from akka_optimize.records import Page


@dataclass(frozen=True)
class Run:
    """A run, in short."""

    run_id: str
    phase: str
    observed_step: int
    loss: float | None = None


RUN = View(
    name="run",
    plural="runs",
    fields=(
        Field("runId", "its ID"),
        Field("phase", "its phase"),
        Field("observedStep", "updates done"),
        Field("loss", "its loss"),
    ),
    columns=(
        Column("RUN", "runId"),
        Column("PHASE", lambda run: run.phase.capitalize()),
        Column("STEP", "observedStep"),
        Column("LOSS", "loss"),
    ),
    renderers={"csv": lambda run: f"{run.run_id},{run.phase}\n"},
)
SHORT = View(
    name="event",
    plural="events",
    fields=(Field("runId"), Field("phase")),
    columns=(Column("RUN", "runId"),),
    to_json=lambda run: {"runId": run.run_id, "phase": run.phase},
    to_text=lambda run: f"{run.run_id} {run.phase}",
)


class Client:
    """Hands out the same runs whatever it is asked."""

    closed = 0

    def run(self, ref: str) -> Run:
        """One run."""
        return Run("7d49", "TRAINING", 12, 0.1 + 0.2)

    def runs(self) -> Page:
        """Two of three runs."""
        return Page((self.run(""), Run("be2a", "QUEUED", 0)), 0, 3)

    def events(self) -> Iterator[Run]:
        """Two events."""
        yield Run("7d49", "TRAINING", 11)
        yield Run("7d49", "COMPLETED", 12)

    def close(self) -> None:
        """Count."""
        self.closed += 1
