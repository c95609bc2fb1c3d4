"""A run, from what its descriptor resolves to until it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akka_optimize.records.document import Document


@dataclass(frozen=True, slots=True)
class Division:
    """How one update's sequences are spread; the product of the first three is the fourth."""

    devices: int
    sequences_per_pass: int
    accumulation: int
    sequences_per_update: int


@dataclass(frozen=True, slots=True)
class ResolvedRun:
    """What a descriptor means once every default is filled in."""

    descriptor: Document
    config: Document
    execution: Document
    plan: Document
    config_hash: str
    division: Division
    steps: int
    training_rows: int
    validation_rows: int
    skipped_rows: int
    stated: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """Why a run stands still, or is about to.

    `checkpoint` is "save" or "latest", or None where the trainer paused the run by itself, for the `reason`. With
    "save", a `reason` says why nothing could be saved. `saved_step` is where it will go on from, None = the beginning;
    `resources_released` once its worker has let go.
    """

    checkpoint: str | None
    requested_at: str
    saved_step: int | None
    reason: str | None
    resources_released: bool


@dataclass(frozen=True, slots=True)
class Run:
    """One training operation, whatever phase it is in.

    `events`: what happened to it, oldest first, each with `at`, `kind` and `attempt`: attempts that ended before their
    time, restarts, clocks that jumped, comments. `changed`: where a child's plan differs from its parent's, as
    `{path, from, to}`. `repeats`: the run whose plan this one starts again. `origin`: `commit` and `diffSha256` of the
    folder it was asked for in.
    """

    run_id: str
    name: str | None
    purpose: str | None
    description: str | None
    config_name: str | None
    phase: str
    workload: str
    workload_id: str
    method: str
    base_model: str
    dataset: str
    dataset_name: str | None
    grader: str | None
    submission_id: str | None
    config_hash: str
    plan: Document
    config: Document
    execution: Document
    environment: Document | None
    stated: tuple[str, ...]
    division: Division
    seed: int
    steps: int
    observed_step: int
    saved_step: int | None
    attempt: int
    loss: float | None
    validation_loss: float | None
    failure_code: str | None
    failure_reason: str | None
    resumable: bool
    created_at: str
    started_at: str | None
    ended_at: str | None
    folder: str
    training_rows: int
    validation_rows: int
    skipped_rows: int
    parent_run_id: str | None = None
    source_snapshot_id: str | None = None
    source_step: int | None = None
    restore: str | None = None
    changes: Document | None = None
    pause: Pause | None = None
    best_snapshot_id: str | None = None
    best_step: int | None = None
    best_validation_loss: float | None = None
    last_snapshot_id: str | None = None
    replaced_steps: int = 0
    events: tuple[Document, ...] = ()
    changed: tuple[Document, ...] | None = None
    repeats: str | None = None
    origin: Document | None = None


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One change that a watcher is told of."""

    run_id: str
    phase: str
    step: int
    steps: int
    loss: float | None
    at: str
    terminal: bool
    failure_code: str | None
    failure_reason: str | None


@dataclass(frozen=True, slots=True)
class RunTree:
    """A run and all that descend from it, every parent before its children."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class ChangedRun:
    """A run beside a reference: in what its plan differs, as `{path, from, to}`, sorted by path.

    `several`: more than one of the differences is a choice, and neither the source nor the horizon, so that the two
    curves cannot tell which one did what. `itself`: the run is the reference.
    """

    run: Run
    differences: tuple[Document, ...]
    several: bool
    itself: bool


@dataclass(frozen=True, slots=True)
class Hparams:
    """A run's settings by path, as its worker recorded them, and the sha256 of its plan."""

    run_id: str
    hparams: Document
    sha: str


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What an engine was asked for, from the run's settings, and what it made of that."""

    run_id: str
    requested: Document
    resolved: Document


@dataclass(frozen=True, slots=True)
class EngineRuntime:
    """What an engine decided and used while it ran, in the latest `attempt` that wrote it down."""

    run_id: str
    attempt: int
    runtime: Document


@dataclass(frozen=True, slots=True)
class Repeats:
    """The runs that start a plan again, and what differs between their environment and that of the first one."""

    runs: tuple[Run, ...]
    notes: tuple[str, ...]
