"""How a child run that was checked, and not submitted, is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from akka_optimize.output.text import labelled
from akka_optimize.output.view import Field, View
from akka_optimize.output.views import sweep

if TYPE_CHECKING:
    from akka_optimize.records import Branches

FIELDS = (
    Field("parentRunId", "the run to branch from"),
    Field("snapshotId", "the snapshot to start from"),
    Field("restore", "what of it the child would take up: weights or trainingState"),
    Field("steps", "updates of the child"),
    Field("submissionId", "token of the submission; the child's ID follows from it"),
    Field("childRunId", "the ID that the child would have"),
    Field("existing", "is the child there already?"),
    Field("changes", "what the override document changes, by path"),
    Field("configHash", "first 12 hex digits of the sha256 of its plan"),
    Field("resolved", "config, execution and restoreError"),
    Field("phase", "the phase of a child that is there already"),
    Field("fan", "children of the parent from this snapshot: existing, new, total, limit"),
)


def to_json(branches: Branches) -> dict[str, Any]:
    """The one child, as a sweep shows a point, with what it branches from."""
    point = sweep.point(branches.points[0])
    return {
        "parentRunId": branches.parent_run_id,
        "snapshotId": branches.snapshot_id,
        "restore": branches.restore,
        "steps": branches.steps,
        "submissionId": branches.submission_id,
        **{name: point[name] for name in ("childRunId", "existing", "changes", "configHash", "resolved", "phase")},
        "fan": sweep.fan(branches.fan),
    }


def to_text(branches: Branches) -> str:
    """Labelled rows."""
    [point] = branches.points
    return labelled(
        [
            ("Child run", f"{point.child_run_id} ({'existing' if point.existing else 'not submitted'})"),
            *([("Resume with", sweep.resume(point))] if sweep.can_go_on(point) else []),
            ("Changes", point.label),
            ("Parent", branches.parent_run_id),
            ("Snapshot", f"{branches.snapshot_id[:12]}, {branches.restore} restored"),
            ("Restore error", point.restore_error),
            ("Updates", branches.steps),
            ("Config hash", point.config_hash),
            ("Token", branches.submission_id),
        ]
    )


BRANCH = View(name="branch", fields=FIELDS, to_json=to_json, to_text=to_text)
