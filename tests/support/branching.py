"""Children of real runs, submitted as the service does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from akka_optimize.records import FanRequest, Run, Snapshot
from akka_optimize.trainer import branches
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home


def snapshot_of(catalog: Catalog, run: Run, step: int) -> Snapshot:
    """The run's snapshot of an update."""
    (found,) = [each for each in catalog.snapshots(run.run_id, limit=100).items if each.step == step]
    return found


def branch(
    catalog: Catalog,
    home: Home,
    snapshot: Snapshot,
    *points: Mapping[str, Any],
    steps: int = 10,
    restore: str = "weights",
    token: str = "token",
) -> list[Run]:
    """Queue a child for each point, by default for one with the usual rate; in point order."""
    asked = FanRequest(
        parent=snapshot.run_id,
        snapshot=snapshot.snapshot_id,
        steps=steps,
        restore=restore,
        submission_id=token,
        points=points or ({"hyperparams.optimizer.learningRate": 1e-4},),
    )
    return [catalog.run(point.child_run_id) for point in branches.submit(catalog, home, asked).points]
