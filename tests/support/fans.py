"""A trainer that fans out children of one snapshot, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from akka_optimize.core.points import child_run_id, label, nested, typed
from akka_optimize.records import Branch, Branches, Fan, FanRequest

PARENT, SNAPSHOT = "7d496e82c3a15f04", "3f2a9c71bd04" + "0" * 52
GRID = """\
axes:
  - path: hyperparams.optimizer.learningRate
    values: [1.0e-5, 5.0e-5, 2.0e-4]
  - path: hyperparams.lora.rank
    values: [8, 16]
"""


class FanTrainer:
    """Remembers its children by id -> phase, and every call. `failures`: method -> the error that it raises."""

    def __init__(
        self, children: Mapping[str, str] | None = None, notes: Sequence[str] = (), **failures: BaseException
    ) -> None:
        self.children = dict(children or {})
        self.notes = tuple(notes)
        self.failures = failures
        self.calls: list[tuple[str, FanRequest]] = []

    def validate_branches(self, asked: FanRequest) -> Branches:
        return self._fan("validate_branches", asked)

    def submit_branches(self, asked: FanRequest) -> Branches:
        fan = self._fan("submit_branches", asked)
        self.children |= {point.child_run_id: "QUEUED" for point in fan.points if not point.existing}
        return fan

    def close(self) -> None:
        """Nothing to let go of."""

    def _fan(self, method: str, asked: FanRequest) -> Branches:
        self.calls.append((method, asked))
        if method in self.failures:
            raise self.failures[method]
        token, before = asked.submission_id, len(self.children)
        points = tuple(
            self._branch(index, token, changes, queued=method == "submit_branches")
            for index, changes in enumerate(asked.points)
        )
        new = sum(not point.existing for point in points)
        fan = Fan(existing=before, new=new, total=before + new, limit=50)
        return Branches(PARENT, SNAPSHOT, asked.restore, asked.steps, token, points, fan, self.notes)

    def _branch(self, index: int, token: str, changes: Mapping[str, Any], *, queued: bool) -> Branch:
        child = child_run_id(token, changes)
        return Branch(
            index=index,
            label=label(typed(changes)),
            changes=typed(changes),
            child_run_id=child,
            existing=child in self.children,
            config_hash=child[:12],
            config=nested(typed(changes)),
            execution={"gpus": 1},
            phase=self.children.get(child, "QUEUED" if queued else None),
            resumable=False,
            restore_error=None,
        )
