"""What may name a dataset, a workload or a run, so that a name is never taken for an id."""

from __future__ import annotations

import re

from akka_optimize import errors

LONGEST = 80  # characters of a user's text that a message repeats
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
ID_SHAPED = re.compile(r"[0-9a-f]{8,64}")


def check_name(name: str, what: str) -> None:
    """Raise Invalid unless `name` can name a dataset or a workload."""
    if not NAME.fullmatch(name):
        raise errors.Invalid(
            f"{shown(name)} cannot name a {what}: use up to 64 of a-z, 0-9 and -, and begin with a letter or a digit",
            field="name",
        )
    check_not_id(name, what)


def check_not_id(name: str, what: str) -> None:
    """Raise Invalid when `name` could be taken for an id."""
    if ID_SHAPED.fullmatch(name):
        raise errors.Invalid(
            f"{shown(name)} cannot name a {what}: 8 to 64 hex digits and nothing else look like an id", field="name"
        )


def shown(text: str) -> str:
    """A user's text as a message repeats it."""
    return repr(text) if len(text) <= LONGEST else f"{text[:LONGEST]!r}…"
