"""The descriptor that `runs start` sends: a file, with `--set` on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from akka_optimize import documents
from akka_optimize.core.fields import FIELDS
from akka_optimize.errors import Invalid, WrongUsage

if TYPE_CHECKING:
    from akka_optimize.records import Document


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
