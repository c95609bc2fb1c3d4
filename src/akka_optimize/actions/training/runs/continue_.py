"""One child run that goes on where its parent stood: the whole training state of a snapshot, restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from akka_optimize.actions.training.runs import unknown
from akka_optimize.actions.training.runs.branch import changes
from akka_optimize.errors import Refused
from akka_optimize.records import FanRequest

if TYPE_CHECKING:
    from akka_optimize.records import Origin, Page, Snapshot

STATE = "trainingState"
PAGE = 100


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def snapshots(self, ref: str, *, limit: int = 50, offset: int = 0) -> Page:
        """A run's committed snapshots, newest first."""
        ...


def request(
    trainer: Trainer,
    parent: str,
    overrides: str | None,
    *,
    snapshot: str | None,
    steps: int,
    submission_id: str | None,
    origin: Origin | None = None,
) -> FanRequest:
    """One child from `snapshot`, by default from the newest one of PARENT that holds a training state.

    Raises WrongUsage (token, file), Invalid (the document), NotFound and Ambiguous (parent), Refused (nothing that it
    saved holds a training state).
    """
    token, changed = unknown.token(submission_id), changes(overrides)
    chosen = newest(trainer, parent).snapshot_id if snapshot is None else snapshot
    return FanRequest(parent, chosen, steps, STATE, token, (changed,), origin=origin, continues=True)


def newest(trainer: Trainer, parent: str) -> Snapshot:
    """The newest snapshot of a run that holds a training state. Raises NotFound, Ambiguous, Refused (there is none)."""
    offset, total = 0, 1
    while offset < total:
        page = trainer.snapshots(parent, limit=PAGE, offset=offset)
        for found in page.items:
            snapshot: Snapshot = found
            if any(artifact.kind == STATE and not artifact.swept for artifact in snapshot.artifacts):
                return snapshot
        offset, total = offset + PAGE, page.total
    raise Refused(
        f"nothing that run {parent} saved holds a training state" if total else f"run {parent} has saved nothing yet",
        field="snapshot",
        hint="a run saves after every execution.saveEvery updates and after its last one",
    )


def announced(asked: FanRequest) -> str:
    """What is said of a token of ours before anything is sent; the newest snapshot may be another one by then."""
    words = f"--submission-id {asked.submission_id} --snapshot {asked.snapshot[:12]}"
    return f"Submission token {asked.submission_id}: if the reply is lost, the same command with {words} finds it"
