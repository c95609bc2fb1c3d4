"""One child run from a snapshot: a sweep of a single point, written as an override document."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from akka_optimize import documents
from akka_optimize.actions.training.runs.sweep import Trainer
from akka_optimize.core import texts
from akka_optimize.core.points import flatten
from akka_optimize.core.problems import quoted
from akka_optimize.errors import Invalid, WrongUsage
from akka_optimize.records import Branches


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


def token(given: str | None) -> str:
    """The submission's token: the one given, or a new one. Raises WrongUsage."""
    if given is not None and (fault := texts.fault("token", given)):
        raise WrongUsage(f"--submission-id: {quoted(given)} {fault}")
    return secrets.token_hex(16) if given is None else given


def branch(
    trainer: Trainer,
    parent: str,
    point: Mapping[str, Any],
    *,
    snapshot: str,
    steps: int,
    restore: str,
    submission_id: str,
    dry_run: bool,
) -> Branches:
    """Check the one point, or submit it. Raises what the trainer refuses."""
    call = trainer.validate_branches if dry_run else trainer.submit_branches
    return call(parent, snapshot=snapshot, steps=steps, restore=restore, submission_id=submission_id, points=[point])
