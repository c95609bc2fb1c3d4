"""The record of a training that a script carried out by itself: a run's folder, with no home and no catalog."""

from __future__ import annotations

import hashlib
import math
import secrets
from typing import TYPE_CHECKING

import numpy as np

from akka_optimize.core import plans
from akka_optimize.record.layout import FORMAT_VERSION, MANIFEST, SNAPSHOTS, TRAINING_STATE, UNFINISHED, WEIGHTS
from akka_optimize.records import Column, Metrics
from akka_optimize.trainer import closing, disk, environment, files, folder
from akka_optimize.trainer.catalog.base import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from akka_optimize.records import Document


class Record:
    """One run, whose configuration and seeds are on the disk once this is made: before the first update.

    `config` becomes config.json, and is all that the run's hash covers. `place` is the folder, below `runs`.
    Raises Exhausted, Refused (disk), ValueError (NaN in `config`).
    """

    def __init__(
        self,
        runs: Path,
        config: Document,
        *,
        seeds: Document,
        name: str | None = None,
        purpose: str | None = None,
        found: Document | None = None,
        run_id: str | None = None,
    ) -> None:
        self.run_id = run_id or secrets.token_hex(8)
        self.config_hash = plans.plan_hash(config)[:12]
        self._started_at = utc_now()
        identity = {
            "name": name,
            "purpose": purpose,
            "submittedAt": self._started_at,
            "seeds": seeds,
            "environment": environment.joined(environment.known(), found or {}),
        }
        self.place = folder.write(runs, self.run_id, config, identity)
        self._curves: dict[str, list[tuple[int, float]]] = {}
        self._best: Document | None = None
        self._saved: int | None = None

    def add(self, step: int, **values: float) -> None:
        """Note what an update came to; by the names that metrics.csv has: `loss`, `validationLoss`, …"""
        for name, value in values.items():
            self._curves.setdefault(name, []).append((step, value))

    def save(
        self,
        step: int,
        *,
        weights: Callable[[Path], None],
        training_state: Callable[[Path], None],
        epoch: float = 0.0,
        validation_loss: float | None = None,
    ) -> str:
        """Save a snapshot: each function writes its file at the path it is given. The snapshot's id.

        Raises Exhausted, Refused (disk).
        """
        place = self.place / SNAPSHOTS / str(step)
        beside = place.with_name(f"{UNFINISHED}{step}")
        known = validation_loss if validation_loss is not None and math.isfinite(validation_loss) else None
        with files.translated(place):
            beside.mkdir(mode=0o700)
            for name, write in ((WEIGHTS, weights), (TRAINING_STATE, training_state)):
                write(beside / name)
                disk.flush_file(beside / name)
            content = disk.pretty(self._manifest(beside, step, epoch, known))
            disk.write_new(beside / MANIFEST, content)
            files.flush_folder(beside)
            beside.rename(place)
            files.flush_folder(place.parent)
        snapshot_id = hashlib.sha256(f"{self.run_id}\n{hashlib.sha256(content).hexdigest()}".encode()).hexdigest()
        self._saved = step
        if known is not None and (self._best is None or known < self._best["validationLoss"]):
            self._best = {"snapshotId": snapshot_id, "step": step, "validationLoss": known}
        return snapshot_id

    def close(self) -> Path:
        """The run is complete: write its curves, its summary and its checksums; the folder.

        Raises Exhausted, Refused (disk).
        """
        metrics = Metrics({name: _column(points) for name, points in self._curves.items()})
        done = max((points[-1][0] for points in self._curves.values()), default=0)
        state = {
            "runId": self.run_id,
            "configHash": self.config_hash,
            "phase": "COMPLETED",
            "attempt": 1,
            "startedAt": self._started_at,
            "endedAt": utc_now(),
            "steps": done,
            "observedStep": done,
            "savedStep": self._saved,
            "best": self._best,
        }
        closing.write(self.place, closing.composed(state, metrics), metrics)
        return self.place

    def _manifest(self, beside: Path, step: int, epoch: float, validation_loss: float | None) -> Document:
        return {
            "formatVersion": FORMAT_VERSION,
            "runId": self.run_id,
            "configHash": self.config_hash,
            "attempt": 1,
            "step": step,
            "epoch": epoch,
            "validationLoss": validation_loss,
            "savedAt": utc_now(),
            "files": {
                name: {"sha256": disk.digest(beside / name), "sizeBytes": (beside / name).stat().st_size}
                for name in (WEIGHTS, TRAINING_STATE)
            },
        }


def _column(points: list[tuple[int, float]]) -> Column:
    steps, values = zip(*points, strict=True)
    return Column(np.array(steps, np.int64), np.array(values, float), np.broadcast_to(np.int64(1), len(points)))
