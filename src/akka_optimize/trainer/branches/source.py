"""The snapshot that children start from: what their plans say of it, and what a smaller adapter loses of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import artifacts, disk
from akka_optimize.trainer.catalog import fans

if TYPE_CHECKING:
    from akka_optimize.records import Document, Run, Snapshot
    from akka_optimize.trainer.home import Home


class Source:
    """One snapshot of one parent. Its files are looked at when a new child needs them, and not before."""

    def __init__(self, home: Home, parent: Run, snapshot: Snapshot, restore: str) -> None:
        self.parent, self.snapshot, self.restore = parent, snapshot, restore
        self._parent_folder = home.path / parent.folder
        self._folder = artifacts.place(self._parent_folder, snapshot.step)
        self._errors: dict[int, float] = {}

    def plan(self) -> Document:
        """The `source` of a child's plan, from files that are all there and just as they were saved.

        Raises Refused (an artifact was swept; a file is missing, torn, or of another save).
        """
        fans.require_artifact(self.snapshot, self.restore)
        try:
            content = artifacts.manifest(self._parent_folder, self.snapshot)
            if content is None:
                raise self._unusable("its manifest is not the one that was committed")
            told: Document = json.loads(content)["files"]
            for name in dict.fromkeys((artifacts.WEIGHTS, artifacts.FILES[self.restore])):
                if disk.digest(self._folder / name) != told[name]["sha256"]:
                    raise self._unusable(f"{name} is not the file that was saved")
        except OSError as error:
            name = Path(error.filename or self._folder).name
            raise self._unusable(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from error
        return {"weights": told[artifacts.WEIGHTS]["sha256"], "restore": self.restore}

    def error(self, rank: int) -> float | None:
        """The relative error of the parent's adapter at a smaller `rank`; None where nothing is cut.

        The file must be sound. Raises Refused (its numbers are not finite).
        """
        if not self._cuts(rank):
            return None
        if rank not in self._errors:
            from akka_optimize.trainer.engines.decoder.restore import relative_error

            self._errors[rank] = relative_error(self._folder / artifacts.WEIGHTS, rank)
        return self._errors[rank]

    def error_of_existing(self, rank: int) -> float | None:
        """The same for a child that is there; None, too, where the snapshot cannot be read any more."""
        if not self._cuts(rank):
            return None
        try:
            if rank not in self._errors:
                self.plan()
            return self.error(rank)
        except errors.Refused:
            return None

    def _cuts(self, rank: int) -> bool:
        return self.restore == "weights" and bool(rank < self.parent.config["hyperparams"]["lora"]["rank"])

    def _unusable(self, why: str) -> errors.Refused:
        return errors.Refused(
            f"snapshot {self.snapshot.snapshot_id[:16]} of update {self.snapshot.step} cannot be restored: {why}",
            field="snapshot",
            hint="branch from another snapshot",
        )
