"""What can be told wrong with a fan before anything is looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import texts
from akka_optimize.core.grid import MOST_BRANCHES
from akka_optimize.core.plans import MOST_STEPS
from akka_optimize.core.points import RESTORES
from akka_optimize.core.problems import quoted

if TYPE_CHECKING:
    from akka_optimize.records import FanRequest


def check(asked: FanRequest) -> None:
    """Raise Invalid, with the field, for what no fan can have, and Exhausted for more points than one can have."""
    if wrong := texts.fault("token", asked.submission_id):
        raise errors.Invalid(f"submission token {quoted(asked.submission_id)} {wrong}", field="submissionId")
    if not 1 <= asked.steps <= MOST_STEPS:
        raise errors.Invalid(f"steps: {asked.steps} is out of range; write 1 to {MOST_STEPS}", field="steps")
    if asked.restore not in RESTORES:
        raise errors.Invalid(
            f"restore: {quoted(asked.restore)} is not offered; write {' or '.join(RESTORES)}", field="restore"
        )
    if asked.continues and asked.restore != "trainingState":
        raise errors.Invalid(
            f"continues: a run goes on from its trainingState, and not from {asked.restore} alone", field="continues"
        )
    if asked.description is not None and (wrong := texts.fault("text", asked.description)):
        raise errors.Invalid(f"description: {quoted(asked.description)} {wrong}", field="description")
    if not asked.points:
        raise errors.Invalid("a fan has at least one point, and this one has none", field="points")
    if len(asked.points) > MOST_BRANCHES:
        raise errors.Exhausted(
            f"{len(asked.points)} points are more than the {MOST_BRANCHES} that can branch from one snapshot",
            field="points",
            hint="submit fewer points",
        )
