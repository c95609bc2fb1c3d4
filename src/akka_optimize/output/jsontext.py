"""JSON documents as text: UTF-8 without needless escapes, every digit of a float, no NaN and no Infinity."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from typing import Any

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"
STEP = "  "
SCALARS = frozenset({str, int, float, bool, type(None)})


def compact(document: Any) -> str:
    """The document on one line, without a newline at its end."""
    return encodable(_finite(_encoder(",", ":"), document))


def pretty(document: Any) -> str:
    """The document over many lines, indented by two, as `json.dumps` does it; no newline at its end."""
    return encodable(_finite(lambda value: _indented(value, "\n"), document))


def _finite(encode: Callable[[Any], str], document: Any) -> str:
    try:
        return encode(document)
    except (TypeError, ValueError):
        # Only a document that holds NaN, or a number of numpy's, pays for being walked.
        from akka_optimize.output.view import plain

        return encode(plain(document))


@cache
def _encoder(between: str, after_key: str) -> Callable[[Any], str]:
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(between, after_key)).encode


def _indented(value: Any, newline: str) -> str:
    """The value, whose closing bracket stands after `newline`, a line break and its indentation.

    The encoder in C knows no indentation, and the one in Python takes seconds for 10^5 rows. So a container of plain
    values, or of such containers, is left to C with the indented line break as its separator.
    """
    inner = newline + STEP
    if isinstance(value, dict) and value:
        if _plain(value.values()):
            return "{" + inner + _encoder("," + inner, ": ")(value)[1:-1] + newline + "}"
        pairs = (f"{_encoder(',', ':')(str(key))}: {_indented(item, inner)}" for key, item in value.items())
        return "{" + inner + ("," + inner).join(pairs) + newline + "}"
    if isinstance(value, list | tuple) and value:
        if _is_table(value):
            return "[" + inner + _rows(value, inner) + newline + "]"
        return "[" + inner + ("," + inner).join(_indented(item, inner) for item in value) + newline + "]"
    return _encoder(",", ":")(value)


def _plain(values: Iterable[Any]) -> bool:
    return set(map(type, values)) <= SCALARS


def _is_table(rows: list[Any] | tuple[Any, ...]) -> bool:
    return set(map(type, rows)) == {dict} and all(rows) and _plain(chain.from_iterable(map(dict.values, rows)))


def _rows(rows: Any, newline: str) -> str:
    """Objects of plain values, each indented; a line break never stands inside a JSON string, so that the seams
    between objects are safe to find."""
    inner = newline + STEP
    joined = _encoder("," + inner, ": ")(rows)[2:-2]
    return "{" + inner + joined.replace("}," + inner + "{", newline + "}," + newline + "{" + inner) + newline + "}"


def encodable(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which UTF-8 cannot carry and jq refuses."""
    return text if text.isascii() else LONE_SURROGATE.sub(REPLACEMENT, text)
