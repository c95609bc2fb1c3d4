"""The JSON documents of a record, read with suspicion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from akka_optimize.records import Document

MOST_BYTES = 16 * 2**20
DEEPEST = 64  # objects and lists within each other
SHOWN = 60  # characters


def parsed(content: bytes) -> Document:
    """The object that a file's bytes stand for. Raises ValueError, whose text is what is wrong with the file."""
    if len(content) > MOST_BYTES:
        raise ValueError(f"is larger than {MOST_BYTES // 2**20} MiB")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8, from byte {error.start} on") from None
    try:
        found = json.loads(text, parse_constant=_not_finite, object_pairs_hook=_once)
        _check_depth(found)
    except json.JSONDecodeError as error:
        raise ValueError(f"is no JSON from line {error.lineno}, column {error.colno} on") from None
    except RecursionError:
        raise ValueError(f"is nested more than {DEEPEST} deep") from None
    if not isinstance(found, dict):
        raise ValueError("is not a JSON object")
    return found


def shown(value: Any) -> str:
    """A value for a sentence: one line of ASCII, not long."""
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _not_finite(word: str) -> NoReturn:
    raise ValueError(f"holds {word}, which is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> Document:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"has the key {shown(next(name for name in names if names.count(name) > 1))} twice")
    return found


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level := [inner for outer in level for inner in _inside(outer)]:
        depth += 1
        if depth > DEEPEST:
            raise RecursionError


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
