"""What `runs start` sends: a descriptor from a file, with `--set` on top, under a token of its own or of ours."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from akka_optimize import documents
from akka_optimize.actions.training.runs import unknown
from akka_optimize.core.fields import FIELDS
from akka_optimize.errors import Invalid, WrongUsage

if TYPE_CHECKING:
    from akka_optimize.records import Document, Origin, Run


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def start_run(self, descriptor: Document, *, origin: Origin | None = None) -> Run:
        """Check a descriptor and queue its run, or reach the one that its `submissionId` started."""
        ...


def start(trainer: Trainer, document: Document, *, origin: Origin | None = None) -> Run:
    """Start the run that a descriptor asks for; `origin` is the folder that it is asked for in.

    Raises what the trainer refuses; Unreachable, TimedOut and Interrupted, with the way to ask again, when it is not
    known whether the request arrived.
    """
    if document.get("submissionId") is not None:
        again = "it may have arrived; the same command again reaches the run, and starts no second one"
        sent = document
    else:
        token = f"start-{secrets.token_hex(12)}"  # never read as a number, when it is typed
        again = f"it may have arrived; the same command with --set submissionId={token} starts no second run"
        sent = {**document, "submissionId": token}
    with unknown.outcome(again):
        return trainer.start_run(sent, origin=origin)


def descriptor(path: str, assignments: Sequence[str] = ()) -> Document:
    """Read the descriptor at `path` ('-' = standard input) and apply `path=value` assignments, in order.

    An assignment's path starts at the descriptor's root, or below `config` as a plan's differences do. Raises
    WrongUsage (the file, an assignment), Invalid (what the file holds).
    """
    document = documents.read(path, what="descriptor")
    if not isinstance(document, dict):
        raise Invalid(f"{path}: a descriptor is a mapping", hint="see `akka-optimize training runs init`")
    for assignment in assignments:
        assign(document, assignment)
    return document


def assign(document: Document, assignment: str) -> None:
    """Set one field of `document` in place. Raises WrongUsage (where), Invalid (what)."""
    path, equals, text = assignment.partition("=")
    if not equals or not path:
        raise WrongUsage(f"--set {assignment!r}: write path=value", hint="config.hyperparams.lora.rank=16, for one")
    *groups, key = full_path(path).split(".")
    place = document
    for group in groups:
        place = place.setdefault(group, {})
        if not isinstance(place, dict):
            raise WrongUsage(f"--set {path}: {group!r} holds no fields in this descriptor")
    place[key] = documents.parse_scalar(text, source=f"--set {path}")


def full_path(path: str) -> str:
    """`hyperparams.lora.rank` as `config.hyperparams.lora.rank`; any other path as it is.

    What its first word tells is enough: below that, the service finds the mistake and names the nearest field.
    """
    levels = [field.path.split(".") for field in FIELDS]
    below = {level[1] for level in levels if level[0] == "config" and len(level) > 1}
    return f"config.{path}" if path.split(".")[0] in below - {level[0] for level in levels} else path
