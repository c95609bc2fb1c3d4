"""What an unquoted word means by YAML's 1.2 core schema, which is what JSON means by it and little more."""

from __future__ import annotations

import re
from typing import Any

from akka_optimize.documents import limits

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile("[-+]?[0-9]+")
_BASED = re.compile("0o([0-7]+)|0x([0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_OPENING = ("{", "[", '"', "'")


def meaning(text: limits.Text, position: int, word: str) -> Any:
    """The value of an unquoted word that stands at a position of a document."""
    if word in _NULLS:
        return None
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    if _INTEGER.fullmatch(word):
        return text.integer(position, word)
    if based := _BASED.fullmatch(word):
        return text.integer(position, based[1] or based[2], 8 if based[1] else 16)
    if _FLOAT.fullmatch(word):
        return text.float(position, word)
    if _NOT_FINITE.fullmatch(word):
        text.refuse(position, f"{word} is not a finite number")
    return word


def parse_scalar(text: str, *, source: str = "value") -> Any:
    """One value from a command line, as in `--set path=value`; `source` is how an error names it.

    Text that opens with a bracket or a quotation mark is a flow value of YAML, `[1, 2]` or `"8"`; anything else is one
    unquoted word, whatever punctuation it holds. Raises Invalid.
    """
    given = limits.Text(text, source)
    word = text.strip()
    if not word:
        return None
    limits.check_text(given)
    if word.startswith(_OPENING):
        from akka_optimize.documents import yaml_reader

        return yaml_reader.parse(given)
    return meaning(given, text.index(word), word)
