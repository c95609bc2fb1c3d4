"""What the steps recorded, on its way to the catalog: kept for a second, then committed as one chunk of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.protocol import trainer_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.engines import Step

SECONDS = 1.0
MOST_STEPS = 10_000  # about half a MiB of six columns; a message stays below one
COLUMNS = ("loss", "gradNorm", "clipped", "learningRate", "tokens", "seconds")


class Curves:
    """The curves of one attempt."""

    def __init__(self, catalog: Catalog, run_id: str, attempt: int, clock: Callable[[], float]) -> None:
        self._catalog, self._run_id, self._attempt, self._clock = catalog, run_id, attempt, clock
        self._steps: list[Step] = []
        self._validations: list[tuple[int, float]] = []
        self._committed = clock()

    def add(self, step: Step) -> None:
        """Keep one update's record."""
        self._steps.append(step)

    def add_validation(self, step: int, loss: float) -> None:
        """Keep the validation loss after the update `step`, which was added before."""
        self._validations.append((step, loss))

    def due(self) -> bool:
        """Has enough time gone by, or enough come together, for a commit?"""
        return len(self._steps) >= MOST_STEPS or self._clock() - self._committed >= SECONDS

    def commit(self) -> None:
        """Have everything added so far in the catalog. Raises Exhausted (disk)."""
        self._committed = self._clock()
        if not self._steps:
            return
        self._catalog.record(
            self._run_id,
            [self._chunk()],
            observed_step=self._steps[-1].step,
            loss=self._steps[-1].loss,
            validation_loss=self._validations[-1][1] if self._validations else None,
        )
        self._steps, self._validations = [], []

    def _chunk(self) -> pb.MetricsChunk:
        steps = [s.step for s in self._steps]
        rows = [(s.loss, s.grad_norm, s.clipped, s.learning_rate, s.tokens, s.seconds) for s in self._steps]
        columns = [
            pb.MetricsColumn(name=name, values=values)
            for name, values in zip(COLUMNS, zip(*rows, strict=True), strict=True)
        ]
        if self._validations:
            at, losses = zip(*self._validations, strict=True)
            columns.append(pb.MetricsColumn(name="validationLoss", values=losses, steps=at))
        return pb.MetricsChunk(attempt=self._attempt, steps=steps, columns=columns)
