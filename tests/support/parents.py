"""Runs that have saved something, for children to branch from."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from support import life
from support.catalog import make_run, new_run

from akka_optimize.records import Artifact, FanRequest, Run, Snapshot
from akka_optimize.trainer import claims, start
from akka_optimize.trainer.catalog import Catalog, NewRun, NewSnapshot, NewSubmission
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.worker.attempt import Attempt
from akka_optimize.trainer.worker.drain import Stop

RATE, RANK = "hyperparams.optimizer.learningRate", "hyperparams.lora.rank"
SAVES = {"execution.saveEvery": 10, "execution.keepAdapters": 9, "execution.keepTrainingStates": 9}


def carry_out(catalog: Catalog, home: Home) -> Run:
    """Train the next run of the queue in this process, to its end."""
    taken = claims.take(catalog, home)
    assert taken is not None, "no run waits"
    with taken[1]:
        Attempt(catalog, home, taken[0], Stop()).carry_out()
    return catalog.run(taken[0].run_id)


def trained(catalog: Catalog, home: Home, settings: Mapping[str, Any] | None = None) -> Run:
    """A run of 20 updates that kept both its saves, at 10 and at 20."""
    start.start(catalog, home, life.descriptor(SAVES | dict(settings or {})))
    return carry_out(catalog, home)


def asked(snapshot: Snapshot, /, *points: Mapping[str, Any], **other: Any) -> FanRequest:
    """A fan of 30 updates under the token `token`, unless `other` says otherwise."""
    wanted = {
        "parent": snapshot.run_id,
        "snapshot": snapshot.snapshot_id,
        "steps": 30,
        "restore": "weights",
        "submission_id": "token",
        "points": points,
    }
    return FanRequest(**(wanted | other))


def rates(count: int, first: int = 1) -> tuple[dict[str, Any], ...]:
    """This many points, each with a learning rate of its own."""
    return tuple({RATE: number * 1e-6} for number in range(first, first + count))


def listed(catalog: Catalog, **stated: Any) -> Snapshot:
    """A snapshot that only the catalog knows, of a new run that only the catalog knows."""
    return saved(catalog, make_run(catalog, **stated).run_id)


def saved(catalog: Catalog, run_id: str, step: int = 10) -> Snapshot:
    """A snapshot of this run that only the catalog knows."""
    digest = secrets.token_hex(32)
    artifacts = tuple(Artifact(kind, digest, 100, swept=False) for kind in ("weights", "trainingState"))
    new = NewSnapshot(
        snapshot_id=secrets.token_hex(32), run_id=run_id, attempt=1, step=step, epoch=1.0, artifacts=artifacts
    )
    return catalog.add_snapshot(new)


def submission(snapshot: Snapshot, token: str = "token", **other: Any) -> NewSubmission:
    """What a token is bound to: 30 updates from the snapshot's weights, unless `other` says otherwise."""
    wanted = {
        "submission_id": token,
        "parent_run_id": snapshot.run_id,
        "snapshot_id": snapshot.snapshot_id,
        "steps": 30,
        "restore": "weights",
    }
    return NewSubmission(**(wanted | other))


def child(catalog: Catalog, bound: NewSubmission, **stated: Any) -> NewRun:
    """A child to submit, of which only the catalog is to know."""
    lineage = {
        "parent_run_id": bound.parent_run_id,
        "source_snapshot_id": bound.snapshot_id,
        "source_step": 10,
        "restore": bound.restore,
        "submission_id": bound.submission_id,
        "changes": {RATE: 1e-5},
    }
    return new_run(catalog, **(lineage | stated))


def children(catalog: Catalog, bound: NewSubmission, count: int = 1) -> tuple[Run, ...]:
    """This many children, queued, of which only the catalog knows."""
    return catalog.add_children(bound, [child(catalog, bound) for _ in range(count)])
