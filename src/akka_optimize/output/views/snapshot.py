"""How a snapshot is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.output.finite import NON_FINITE, stating
from akka_optimize.output.view import Column, Field, View

if TYPE_CHECKING:
    from akka_optimize.records import Snapshot


def _bytes(snapshot: Snapshot) -> int:
    return sum(artifact.size_bytes for artifact in snapshot.artifacts)


def _artifacts(snapshot: Snapshot) -> str:
    return "\n".join(
        f"{artifact.kind}, {'swept' if artifact.swept else f'{artifact.size_bytes} bytes'}"
        for artifact in snapshot.artifacts
    )


SNAPSHOT = View(
    name="snapshot",
    plural="snapshots",
    fields=(
        Field("snapshotId", "its ID, 64 hex digits"),
        Field("runId", "the run that saved it"),
        Field("attempt", "the attempt that saved it"),
        Field("step", "updates done when it was saved"),
        Field("epoch", "times that the rows had been gone through"),
        Field("artifacts", "what it holds: kind, manifestDigest, sizeBytes, swept"),
        Field("status", "Available, or Swept once nothing of it is left"),
        Field("validationLoss", "mean loss over the held-out rows, in nats per token"),
        Field("createdAt", "when it was committed"),
        Field("best", "has it the lowest validation loss of its run?"),
        Field("heldBy", "what keeps it from being swept"),
        NON_FINITE,
    ),
    to_json=stating("validation_loss"),
    columns=(
        Column("SAVED STEP", "step"),
        Column("EPOCH", "epoch"),
        Column("SNAPSHOT", lambda snapshot: snapshot.snapshot_id[:12]),
        Column("ARTIFACTS", lambda snapshot: tuple(a.kind for a in snapshot.artifacts if not a.swept)),
        Column("SWEPT", lambda snapshot: tuple(a.kind for a in snapshot.artifacts if a.swept)),
        Column("BYTES", _bytes),
        Column("STATUS", "status"),
        Column("VALIDATION LOSS", lambda snapshot: snapshot.validation_loss),
        Column("BEST", "best"),
        Column("HELD BY", "heldBy"),
    ),
    block=(
        Column("Snapshot", "snapshotId"),
        Column("Run", "runId"),
        Column("Attempt", "attempt"),
        Column("Saved step", "step"),
        Column("Epoch", "epoch"),
        Column("Artifacts", _artifacts),
        Column("Status", "status"),
        Column("Validation loss", lambda snapshot: snapshot.validation_loss),
        Column("Best", "best"),
        Column("Held by", lambda snapshot: "\n".join(snapshot.held_by) or None),
        Column("Created", "createdAt"),
    ),
)
