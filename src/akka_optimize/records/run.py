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
class Run:
    """One training operation, whatever phase it is in."""

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
class Hparams:
    """A run's settings by path, as its worker recorded them, and the sha256 of its plan."""

    run_id: str
    hparams: Document
    sha: str
