"""A fan of children from one snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from akka_optimize.records.document import Document
    from akka_optimize.records.folder import Origin


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a grid: the path of a field below `config`, and the values that it takes in turn, as written."""

    path: str
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class FanRequest:
    """Children of `parent` from `snapshot`, one for each of `points`: path below `config` -> value.

    `parent` is an id, a prefix or a name, `snapshot` an id or a prefix; each child makes `steps` updates, after it took
    up "weights" or the "trainingState". `submission_id` is the token that all go under. `continues`: with
    "trainingState", the rhythm of validation may change beside the learning rate.
    """

    parent: str
    snapshot: str
    steps: int
    restore: str
    submission_id: str
    points: tuple[Mapping[str, Any], ...]
    description: str | None = None
    origin: Origin | None = None
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """One child of a fan: where its point stands in the grid, from 0 on, what the point sets, what it resolves to.

    `changes` holds paths below `config`. `existing`: the child was there before. `phase` is None where there is no
    child yet. `restore_error` is the relative error of an adapter that had to be truncated, else None.
    """

    index: int
    label: str
    changes: Document
    child_run_id: str
    existing: bool
    config_hash: str
    config: Document
    execution: Document
    phase: str | None
    resumable: bool
    restore_error: float | None


@dataclass(frozen=True, slots=True)
class Fan:
    """The children of one parent from one snapshot, in every phase: there before, new, both, and the most allowed."""

    existing: int
    new: int
    total: int
    limit: int


@dataclass(frozen=True, slots=True)
class Branches:
    """Children of one parent from one snapshot, resolved or submitted together under one token."""

    parent_run_id: str
    snapshot_id: str
    restore: str
    steps: int
    submission_id: str
    points: tuple[Branch, ...]
    fan: Fan
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A grid of children, previewed (`dry_run`) or submitted, and the command to go on with."""

    branches: Branches
    axes: tuple[Axis, ...]
    dry_run: bool
    next_command: str
