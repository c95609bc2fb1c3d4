"""What a run saved."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Artifact:
    """One kind of thing that a snapshot holds: `weights` or `trainingState`."""

    kind: str
    manifest_digest: str
    size_bytes: int
    swept: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One committed save."""

    snapshot_id: str
    run_id: str
    attempt: int
    step: int
    epoch: float
    artifacts: tuple[Artifact, ...]
    status: str
    validation_loss: float | None
    created_at: str
    best: bool
    held_by: tuple[str, ...] = field(default=())
