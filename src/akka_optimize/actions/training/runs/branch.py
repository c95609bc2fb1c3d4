"""One child run from a snapshot: a sweep of a single point, written as an override document."""

from __future__ import annotations

from typing import Any

from akka_optimize import documents
from akka_optimize.actions.training.runs import unknown
from akka_optimize.actions.training.runs.sweep import Trainer
from akka_optimize.actions.training.runs.unknown import announced
from akka_optimize.core.points import flatten
from akka_optimize.errors import Invalid
from akka_optimize.records import Branches, FanRequest, Origin

__all__ = ["announced", "branch", "changes", "request"]


def changes(overrides: str | None) -> dict[str, Any]:
    """What the override document at the path `overrides` changes ('-' = standard input), by path; nothing for None.

    Raises WrongUsage (the file), Invalid (what it holds).
    """
    if overrides is None:
        return {}
    document = documents.read(overrides, what="override document")
    if not isinstance(document, dict):
        raise Invalid(f"{overrides}: an override document is a mapping of the fields below config to change")
    return flatten(document)


def request(
    parent: str,
    overrides: str | None,
    *,
    snapshot: str,
    steps: int,
    restore: str,
    submission_id: str | None,
    origin: Origin | None = None,
) -> FanRequest:
    """One child with what the override document changes, under a new token unless one is given.

    No trainer is needed yet. Raises WrongUsage (token, file), Invalid (the document).
    """
    token = unknown.token(submission_id)
    return FanRequest(parent, snapshot, steps, restore, token, (changes(overrides),), origin=origin)


def branch(trainer: Trainer, asked: FanRequest, *, dry_run: bool) -> Branches:
    """Check the one point, or submit it.

    Raises what the trainer refuses; Unreachable, TimedOut and Interrupted, with the token, when it is not known whether
    the submission arrived.
    """
    if dry_run:
        return trainer.validate_branches(asked)
    with unknown.outcome(unknown.children_again(asked.submission_id)):
        return trainer.submit_branches(asked)
