"""What is handed to the catalog to be kept: the fields that are known before the catalog adds its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akka_optimize.records import Artifact, Division, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run as it was submitted."""

    run_id: str  # 16 hex digits
    name: str | None = None
    purpose: str | None = None
    description: str | None = None
    config_name: str | None = None
    workload_id: str
    method: str
    base_model: str  # repository
    dataset: str  # hash
    dataset_name: str | None = None
    grader: str | None = None
    submission_id: str | None = None
    config_hash: str  # first 12 hex digits
    plan: Document
    config: Document
    execution: Document
    stated: tuple[str, ...] = ()
    division: Division
    seed: int
    steps: int
    folder: str
    training_rows: int
    validation_rows: int
    skipped_rows: int
    parent_run_id: str | None = None  # the six below: a child's alone
    source_snapshot_id: str | None = None
    source_step: int | None = None
    restore: str | None = None
    changes: Document | None = None
    changed: list[Document] | None = None  # {path, from, to}, against the parent's plan
    repeats: str | None = None
    origin: Document | None = None  # commit, diffSha256


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSnapshot:
    """A save whose files are in their place and flushed."""

    snapshot_id: str
    run_id: str
    attempt: int
    step: int
    epoch: float
    artifacts: tuple[Artifact, ...]
    status: str = field(default="Available")
    validation_loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubmission:
    """What a fan's token is bound to."""

    submission_id: str
    parent_run_id: str
    snapshot_id: str
    steps: int
    restore: str
