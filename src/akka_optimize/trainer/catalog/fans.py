"""What there is of a fan, and the rules that a submission keeps. Each is checked twice: when a fan is resolved, and
inside the transaction that submits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from akka_optimize import errors
from akka_optimize.core.grid import MOST_BRANCHES
from akka_optimize.records import PHASES, Run, Snapshot
from akka_optimize.trainer.catalog import holds, insertion, references, runs, schema
from akka_optimize.trainer.catalog.new import NewSubmission
from akka_optimize.trainer.names import shown

DIGITS = 16  # of a snapshot's id in a message
_SAID = {"parent_run_id": "parent", "snapshot_id": "snapshot", "steps": "steps", "restore": "restore"}

children = schema.runs
table = schema.submissions


@dataclass(frozen=True, slots=True)
class Fan:
    """The children that a token has already, by id; the ids that it can never have again; and how full the fan is.

    `phases` counts all children of the parent from the snapshot, whatever their token.
    """

    children: dict[str, Run]
    spent: frozenset[str]
    phases: Counter[str]

    @property
    def existing(self) -> int:
        """How many children the parent has from the snapshot."""
        return self.phases.total()


def fan_of(connection: Connection, submission: NewSubmission) -> Fan:
    """The fan as it is now. Raises Conflict when the token is bound to something else."""
    check_token(connection, submission)
    token, deleted = submission.submission_id, schema.deleted_runs
    under = runs.selected().where(children.c.submission_id == token, children.c.parent_run_id.is_not(None))
    spent = select(deleted.c.run_id).where(deleted.c.submission_id == token)
    return Fan(
        children={run.run_id: run for run in map(runs.record, connection.execute(under))},
        spent=frozenset(connection.execute(spent).scalars()),
        phases=phases(connection, submission.parent_run_id, submission.snapshot_id),
    )


def phases(connection: Connection, parent_run_id: str, snapshot_id: str) -> Counter[str]:
    """How many children a run has from one snapshot, in each phase."""
    from_snapshot = (
        select(children.c.phase, func.count().label("children"))
        .where(children.c.parent_run_id == parent_run_id, children.c.source_snapshot_id == snapshot_id)
        .group_by(children.c.phase)
    )
    return Counter({row.phase: row.children for row in connection.execute(from_snapshot)})


def bound(connection: Connection, submission_id: str) -> NewSubmission | None:
    """What a token is bound to; None when no fan was submitted under it."""
    row = connection.execute(select(table).where(table.c.submission_id == submission_id)).one_or_none()
    if row is None:
        return None
    return NewSubmission(**{name: value for name, value in row._mapping.items() if name != "created_at"})


def check_token(connection: Connection, submission: NewSubmission) -> None:
    """Raise Conflict unless the token is fresh, or bound to this very parent, snapshot, number of steps and restore."""
    token = submission.submission_id
    earlier = bound(connection, token)
    hint = "use a new submission token for other children"
    if earlier is not None:
        if told := list(_differences(submission, earlier)):
            raise errors.Conflict(
                f"submission {shown(token)} was made with {', '.join(told)}", field="submissionId", hint=hint
            )
    elif (used := insertion.spent(connection, token)) is not None:
        raise errors.Conflict(f"submission {shown(token)} {used}", field="submissionId", hint=hint)


def require_unspent(fan: Fan, ids: Collection[str]) -> None:
    """Raise Refused when one of these ids was that of a child that has been deleted."""
    if gone := [id for id in ids if id in fan.spent]:
        one = len(gone) == 1
        raise errors.Refused(
            f"child {'run' if one else 'runs'} {', '.join(gone)} {'was' if one else 'were'} deleted, and "
            f"{'its point' if one else 'their points'} cannot be submitted again under this token",
            field="points",
            hint="leave such points out, or use a new submission token",
        )


def require_room(fan: Fan, new: int, snapshot_id: str) -> None:
    """Raise Exhausted unless `new` more children can branch from the snapshot."""
    there = fan.existing
    if not new or there + new <= MOST_BRANCHES:
        return
    told = f"{new} {'branch' if new == 1 else 'branches'}"
    if there:
        phases = ", ".join(f"{fan.phases[phase]} {phase}" for phase in PHASES if fan.phases[phase])
        told = (
            f"{there} {'branch exists' if there == 1 else 'branches exist'} ({phases}); {new} more make {there + new}"
        )
    raise errors.Exhausted(
        f"snapshot {snapshot_id[:DIGITS]}: {told}, and at most {MOST_BRANCHES} can branch from one snapshot",
        field="points",
        hint="submit fewer points, delete branches with `training runs delete`, or branch from another snapshot",
    )


def require_artifact(snapshot: Snapshot, restore: str) -> None:
    """Raise Refused unless the snapshot still has what a new child needs: its weights, and what it restores."""
    there = {artifact.kind for artifact in snapshot.artifacts if not artifact.swept}
    if gone := [kind for kind in holds.KINDS if kind in ("weights", restore) and kind not in there]:
        raise errors.Refused(
            f"snapshot {snapshot.snapshot_id[:DIGITS]} of update {snapshot.step} has no {' and no '.join(gone)} "
            "any more",
            field="snapshot" if "weights" in gone else "restore",
            hint="`training runs snapshots` shows what each one holds"
            + ("" if "weights" in gone else "; weights can be restored from this one"),
        )


def require_submission(connection: Connection, submission_id: str) -> None:
    """Raise NotFound unless a run, or a fan, was submitted under the token."""
    if bound(connection, submission_id) is None and insertion.spent(connection, submission_id) is None:
        raise errors.NotFound(
            f"nothing was submitted under {shown(submission_id)}",
            field="submissionId",
            hint=f"`{runs.KIND.command} -o json` shows the submissions of runs",
        )


def source(connection: Connection, parent_run_id: str, reference: str) -> str:
    """The id of the parent's snapshot that goes by an id or prefix. Raises NotFound, Ambiguous, Refused (another's)."""
    of = schema.snapshots
    own = select(of.c.snapshot_id).where(of.c.run_id == parent_run_id).subquery()
    try:
        return references.find(connection, references.snapshots(own.c.snapshot_id), reference)
    except errors.NotFound:
        found = references.find(connection, references.snapshots(of.c.snapshot_id), reference)
        owner = connection.execute(select(of.c.run_id).where(of.c.snapshot_id == found)).scalar_one()
        raise errors.Refused(
            f"snapshot {found[:DIGITS]} is of run {owner}, and not of {parent_run_id}",
            field="snapshot",
            hint=f"branch from {owner}, or see `training runs snapshots {parent_run_id}`",
        ) from None


def _differences(asked: NewSubmission, earlier: NewSubmission) -> Iterator[str]:
    for name, said in _SAID.items():
        ours, theirs = getattr(asked, name), getattr(earlier, name)
        if ours != theirs:
            digits = DIGITS if name == "snapshot_id" else None
            yield f"{said} {str(theirs)[:digits]} instead of {str(ours)[:digits]}"
