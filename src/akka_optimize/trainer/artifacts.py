"""The files of a snapshot: where they are, and whether they are the ones that were committed."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.records import Snapshot

WEIGHTS, TRAINING_STATE, MANIFEST = "weights.safetensors", "training-state.pt", "manifest.json"
FILES = {"weights": WEIGHTS, "trainingState": TRAINING_STATE}  # by kind


def place(folder: Path, step: int) -> Path:
    """Where a run, whose folder this is, keeps what it saved after the update `step`."""
    return folder / "snapshots" / str(step)


def manifest(folder: Path, snapshot: Snapshot) -> bytes | None:
    """The snapshot's manifest; None where what is on the disk is another save. Raises OSError."""
    content = (place(folder, snapshot.step) / MANIFEST).read_bytes()
    same = hashlib.sha256(content).hexdigest() == snapshot.artifacts[0].manifest_digest
    return content if same else None
