"""JSON as RFC 8259 has it, with the place of every fault."""

from __future__ import annotations

import re
from json import JSONDecodeError, decoder
from typing import Any

from akka_optimize.documents.limits import Text

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[-+\w.]+")
_scan_string = decoder.scanstring  # type: ignore[attr-defined]  # json's own, in C
_WORDS = {"true": True, "false": False, "null": None}
_STRING_FAULTS = {
    "Unterminated": "a string that is not closed",
    "Invalid control": "a control character in a string; write it as an escape",
    "Invalid \\u": "an escape without its four hex digits",
    "Invalid \\e": "an escape that JSON does not have",
}
_REASONS = {
    "NaN": "is no JSON",
    "Infinity": "is no JSON",
    "-Infinity": "is no JSON",
    "True": "is no JSON; write true",
    "False": "is no JSON; write false",
    "None": "is no JSON; write null",
}


def parse(text: Text) -> Any:
    """The document's value. Raises Invalid with the place."""
    start = _space(text, 0)
    text.mark(start)
    value, end = _value(text, start, 0)
    end = _space(text, end)
    if end < len(text.text):
        text.refuse(end, f"{_shown(text, end)} after the end of the document")
    return value


def _value(text: Text, at: int, depth: int) -> tuple[Any, int]:
    """The value that begins at a position, and the position after it."""
    text.count(at)
    match text.text[at : at + 1]:
        case "{":
            text.check_depth(at, depth + 1)
            return _mapping(text, at, depth + 1)
        case "[":
            text.check_depth(at, depth + 1)
            return _list(text, at, depth + 1)
        case '"':
            return _string(text, at)
    return _word(text, at)


def _mapping(text: Text, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    seen: dict[str, int] = {}
    at = _space(text, at + 1)
    if text.text[at : at + 1] == "}":
        return found, at + 1
    while True:
        if text.text[at : at + 1] != '"':
            text.refuse(at, f"{_shown(text, at)} where a key in double quotes belongs")
        key, end = _string(text, at)
        if key in seen:
            text.refuse_repeated(at, key, seen[key])
        seen[key] = at
        text.mark(at)
        colon = _space(text, end)
        if text.text[colon : colon + 1] != ":":
            text.refuse(colon, f"{_shown(text, colon)} where ':' belongs")
        found[key], end = _value(text, _space(text, colon + 1), depth)
        at = _space(text, end)
        if text.text[at : at + 1] == "}":
            return found, at + 1
        at = _comma(text, at, "}")


def _list(text: Text, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = _space(text, at + 1)
    if text.text[at : at + 1] == "]":
        return found, at + 1
    while True:
        text.mark(at)
        value, end = _value(text, at, depth)
        found.append(value)
        at = _space(text, end)
        if text.text[at : at + 1] == "]":
            return found, at + 1
        at = _comma(text, at, "]")


def _comma(text: Text, at: int, closing: str) -> int:
    """The position of what follows a comma, which must be there and must not be the last thing."""
    if text.text[at : at + 1] != ",":
        text.refuse(at, f"{_shown(text, at)} where ',' or '{closing}' belongs")
    after = _space(text, at + 1)
    if text.text[after : after + 1] == closing:
        text.refuse(at, f"a comma before '{closing}'")
    return after


def _string(text: Text, at: int) -> tuple[str, int]:
    try:
        value, end = _scan_string(text.text, at + 1, True)
    except JSONDecodeError as error:
        reason = next(reason for begin, reason in _STRING_FAULTS.items() if error.msg.startswith(begin))
        text.refuse(min(error.pos, len(text.text) - 1), reason)
    text.check_surrogates(at, value)
    return value, end


def _word(text: Text, at: int) -> tuple[Any, int]:
    found = _WORD.match(text.text, at)
    word = found[0] if found else ""
    if word in _WORDS:
        return _WORDS[word], at + len(word)
    number = _NUMBER.fullmatch(word)
    if number is None:
        text.refuse(at, f"{word} {_REASONS[word]}" if word in _REASONS else f"{_shown(text, at)} where a value belongs")
    if number[2] or number[3]:
        return text.float(at, word), at + len(word)
    return text.integer(at, word), at + len(word)


def _space(text: Text, at: int) -> int:
    found = _SPACE.match(text.text, at)
    return found.end() if found else at


def _shown(text: Text, at: int) -> str:
    """What stands at a position, for an error: a word, one character, or the end."""
    if at >= len(text.text):
        return "the document ends"
    found = _WORD.match(text.text, at)
    piece = found[0][:20] if found else text.text[at]
    return repr(piece) if piece.isprintable() else f"the character U+{ord(piece[0]):04X}"
