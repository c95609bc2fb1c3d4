"""What every training engine is to the rest of the trainer.

An engine turns a job into a session, and a session yields one record per optimizer update. Saving, cancelling and
reporting are the caller's: between two updates it may validate, save, or simply stop asking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from akka_optimize import errors

if TYPE_CHECKING:
    import numpy as np

    from akka_optimize.records import BaseModel, Division, Document

ENGINES = {
    "decoder": "akka_optimize.trainer.engines.decoder",
    "arithmetic": "akka_optimize.trainer.engines.arithmetic",
}
METADATA = "akka-optimize"  # the one key in a weights file's metadata: with more, safetensors writes them in any order


@dataclass(frozen=True, slots=True)
class Tokens:
    """One encoded row: `ids`, uint16 (tokens,), and `trained`, bool (tokens,): is this token an assistant's?"""

    ids: np.ndarray
    trained: np.ndarray

    def fits(self, length: int) -> bool:
        """Is any assistant token left when the row is cut to `length` tokens? The first token is never a target."""
        return bool(self.trained[1:length].any())


@dataclass(frozen=True, slots=True)
class Source:
    """The parent's snapshot that a child starts from.

    `restore` is "weights", the adapter's function alone with everything else fresh, or "trainingState": adapter,
    optimizer, random-number generators and data position, under the child's own schedule.
    """

    restore: str
    weights: Path
    training_state: Path | None  # there under "trainingState"


@dataclass(frozen=True, slots=True)
class Job:
    """All that decides a run's arithmetic, and how it is carried out."""

    run_id: str
    plan: Document  # config.json
    division: Division
    rows: Sequence[Document]  # chat rows, in dataset order
    base_model: BaseModel
    threads: int = 1
    source: Source | None = None  # None: from the base model
    resume: Path | None = None  # this run's own training state, to go on from; the source is then behind it


@dataclass(frozen=True, slots=True)
class Step:
    """One optimizer update of the run itself, numbered from 1 wherever it started from."""

    step: int
    loss: float  # token-weighted mean over the update's rows, nats
    grad_norm: float  # Euclidean, over all trained parameters, before clipping
    clipped: bool
    learning_rate: float
    tokens: int  # assistant tokens that the loss is over
    seconds: float


class ProcessLost(errors.Internal):
    """A process that a session trains in has ended, which nobody asked it to: another attempt may get further."""


class Held(Protocol):
    """What a session had learned after one update, held in memory apart from it while the session goes on."""

    def save_weights(self, path: Path) -> None:
        """Write the adapter to `path` as safetensors."""
        ...

    def save_training_state(self, path: Path) -> None:
        """Write optimizer, schedule, random-number generators and data position to `path`."""
        ...


class Session(Protocol):
    """One run in training, in as many processes as its division has devices."""

    environment: Document  # versions, devices, threads, deterministic settings
    requested: Document  # what the engine was asked for, in its own terms
    resolved: Document  # what it made of that, under the same names, and the adapter as attached

    def runtime(self) -> Document:
        """What it decided and used so far: processes, parameters by type, memory in bytes at named moments."""
        ...

    def steps(self) -> Iterator[Step]:
        """Train, and yield each update's record once it is done, up to the plan's horizon."""
        ...

    def epoch(self) -> float:
        """How many times the training rows have been gone through, those of a restored training state included."""
        ...

    def validate(self) -> float | None:
        """Token-weighted mean loss over the held-out rows, drawing no randomness; None when none is held out."""
        ...

    def hold(self) -> Held:
        """A copy of all that goes on training exactly here takes; nothing that comes later changes it."""
        ...

    def close(self) -> None:
        """Let go of devices and processes."""
        ...


class Engine(Protocol):
    """A way of training; one module per engine, with an `ENGINE` in it."""

    def encode(self, row: Document) -> Tokens:
        """Tokenise one chat row. Loads nothing heavy."""
        ...

    def start(self, job: Job) -> Session:
        """Load the model, restore the job's source on it, and make ready for the first update."""
        ...


def engine(name: str) -> Engine:
    """The engine that goes by `name` in a base model's entry."""
    found: Engine = import_module(ENGINES[name]).ENGINE
    return found
