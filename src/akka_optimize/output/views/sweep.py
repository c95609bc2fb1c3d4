"""How a sweep is shown: its points with their children, how full the fan is, and the command to go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from akka_optimize.output.text import grid, labelled
from akka_optimize.output.view import Field, View, plain

if TYPE_CHECKING:
    from akka_optimize.records import Branch, Fan, Sweep

NEVER_AGAIN = frozenset({"FAILED", "CANCELLED"})

FIELDS = (
    Field("parentRunId", "the run that the children branch from"),
    Field("snapshotId", "the snapshot that every child starts from"),
    Field("restore", "what of it a child takes up: weights or trainingState"),
    Field("steps", "updates of each child"),
    Field("submissionId", "token of the submission; the children's IDs follow from it"),
    Field("dryRun", "was nothing submitted?"),
    Field("axes", "the axes of the grid: path and values"),
    Field("points", "each point: index, label, changes, childRunId, existing, configHash, resolved, phase"),
    Field("fan", "children of the parent from this snapshot: existing, new, total, limit"),
    Field("nextCommand", "the command to go on with"),
    Field("comparison", "null: no fan is scored by this release"),
)


def to_json(sweep: Sweep) -> dict[str, Any]:
    """The whole sweep as a JSON document."""
    branches = sweep.branches
    return {
        "parentRunId": branches.parent_run_id,
        "snapshotId": branches.snapshot_id,
        "restore": branches.restore,
        "steps": branches.steps,
        "submissionId": branches.submission_id,
        "dryRun": sweep.dry_run,
        "axes": plain(sweep.axes),
        "points": [point(branch) for branch in branches.points],
        "fan": fan(branches.fan),
        "nextCommand": sweep.next_command,
        "comparison": None,
    }


def point(branch: Branch) -> dict[str, Any]:
    """One point as a JSON document."""
    return {
        "index": branch.index,
        "label": branch.label,
        "changes": plain(branch.changes),
        "childRunId": branch.child_run_id,
        "existing": branch.existing,
        "configHash": branch.config_hash,
        "resolved": {
            "config": plain(branch.config),
            "execution": plain(branch.execution),
            "restoreError": plain(branch.restore_error),
        },
        "phase": branch.phase,
    }


def fan(counts: Fan) -> dict[str, Any]:
    """How full the fan is, as a JSON document."""
    document: dict[str, Any] = plain(counts)
    return document


def to_text(sweep: Sweep) -> str:
    """A line for each point, what is to be known of children that ended early, the fan, the token, what comes next."""
    branches = sweep.branches
    headings = ["POINT", "LABEL", "CHILD RUN", "PHASE", "CONFIG"]
    rows: list[list[object]] = [
        [point.index, point.label, point.child_run_id, _phase(point), point.config_hash] for point in branches.points
    ]
    if any(point.restore_error is not None for point in branches.points):
        headings.append("RESTORE ERROR")
        rows = [[*row, point.restore_error] for row, point in zip(rows, branches.points, strict=True)]
    rest = [
        ("Snapshot", f"{branches.snapshot_id[:12]} of {branches.parent_run_id}, {branches.restore} restored"),
        ("Fan", _fan(branches.fan)),
        ("Updates", f"{branches.steps} each"),
        ("Token", branches.submission_id),
        ("Submitted", not sweep.dry_run),
        ("Next", sweep.next_command),
    ]
    return "\n".join([grid(headings, rows), *_advice(branches.points), labelled(rest)])


def _phase(branch: Branch) -> str:
    shown = branch.phase.capitalize() if branch.phase else "new"
    return f"{shown} (existing)" if branch.existing else shown


def _fan(fan: Fan) -> str:
    return f"{fan.total} of at most {fan.limit} from this snapshot: {fan.existing} existing, {fan.new} new"


def _advice(points: tuple[Branch, ...]) -> list[str]:
    """What to do about children that the token reaches and that stand still: it starts none of them again."""
    told = [f"Point {point.index}: resume with: {resume(point)}" for point in points if can_go_on(point)]
    ended = sum(point.phase in NEVER_AGAIN and not point.resumable for point in points)
    if ended:
        those = "1 child run has" if ended == 1 else f"{ended} child runs have"
        told.append(f"{those} failed or been cancelled. To train such a point after all, sweep it under a new token.")
    return ["\n".join(told) + "\n"] if told else []


def can_go_on(branch: Branch) -> bool:
    """Is there a child that stands still and can be resumed?"""
    return branch.resumable or branch.phase == "PAUSED"


def resume(branch: Branch) -> str:
    """The command that goes on with the child."""
    return f"akka-optimize training runs resume {branch.child_run_id}"


SWEEP = View(name="sweep", fields=FIELDS, to_json=to_json, to_text=to_text)
