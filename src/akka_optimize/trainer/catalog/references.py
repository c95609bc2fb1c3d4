"""What a user may call a thing: its id, an unambiguous prefix of it, or its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, null, select

from akka_optimize import errors
from akka_optimize.trainer.names import shown

SHOWN = 10  # candidates that an ambiguous reference lists
HEX = re.compile(r"[0-9a-f]{1,64}")
AFTER = dict(zip("0123456789abcdef", "123456789abcdefg", strict=True))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing, and where its ids and names stand."""

    what: str  # "run"
    id: ColumnElement[str]
    name: ColumnElement[Any]
    owner: ColumnElement[str]  # the id, in the table of the names
    command: str  # that lists them


def snapshots(id: ColumnElement[str]) -> Kind:
    """Snapshots, which have no names, out of any table with their ids."""
    return Kind("snapshot", id, null(), id, "akka-optimize training runs snapshots RUN")


def find(connection: Connection, kind: Kind, reference: str) -> str:
    """The id of the one thing that goes by `reference`: an exact id, else a name, else a prefix of an id.

    Raises Invalid (empty), NotFound, and Ambiguous, which lists the candidates.
    """
    if not reference:
        raise errors.Invalid(f"an empty text names no {kind.what}", field=kind.what)
    if reference.isprintable():  # or no database would take it as a parameter
        if connection.execute(select(kind.id).where(kind.id == reference)).scalar() is not None:
            return reference
        for rule in (_named(kind, reference), _beginning(kind, reference)):
            found = [] if rule is None else connection.execute(rule.limit(2)).all()
            if len(found) == 1:
                return str(found[0][0])
            if rule is not None and found:
                raise _ambiguous(connection, kind, reference, rule)
    raise errors.NotFound(
        f"no {kind.what} goes by {shown(reference)}", field=kind.what, hint=f"`{kind.command}` lists them"
    )


def _named(kind: Kind, reference: str) -> Select[Any]:
    return select(kind.owner).where(kind.name == reference)


def _beginning(kind: Kind, reference: str) -> Select[Any] | None:
    """A range, which an index answers at once however many ids there are, and in which nothing is a wildcard."""
    if not HEX.fullmatch(reference):
        return None
    after = reference[:-1] + AFTER[reference[-1]]
    return select(kind.id).where(kind.id >= reference, kind.id < after)


def _ambiguous(connection: Connection, kind: Kind, reference: str, rule: Select[Any]) -> errors.Ambiguous:
    total = connection.execute(select(func.count()).select_from(rule.subquery())).scalar_one()
    ids: list[str] = list(connection.execute(rule.limit(SHOWN)).scalars())
    names: dict[str, list[str]] = {}
    for owner, name in connection.execute(select(kind.owner, kind.name).where(kind.owner.in_(ids))):
        if name is not None:
            names.setdefault(owner, []).append(name)
    digits = max(16, len(reference) + 4)  # of a long hash, enough to tell them apart
    listed = [id[:digits] + (f" ({', '.join(sorted(names[id]))})" if id in names else "") for id in sorted(ids)]
    more = f" and {total - len(ids)} more" if total > len(ids) else ""
    return errors.Ambiguous(
        f"{shown(reference)} fits {total} {kind.what}s: {', '.join(listed)}{more}",
        field=kind.what,
        hint="give more digits of the id",
    )
