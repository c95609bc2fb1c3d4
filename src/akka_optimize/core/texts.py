"""The rules that text fields keep, by form."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = {"line": 200, "name": 128, "sentence": 500, "text": 10_000, "grader": 2_000, "token": 128}
RULES = {
    "line": f"one line of at most {_LONGEST['line']} printable characters",
    "name": f"as a line of at most {_LONGEST['name']}, not shaped like an ID (8 to 64 hex digits) or an option",
    "sentence": f"prose of at most {_LONGEST['sentence']} characters, without line ends and control characters",
    "text": f"prose of at most {_LONGEST['text']} characters, without control characters other than line ends and tabs",
    "grader": "`json-label-match`, `model:` or `http:` and what follows",
    "token": f"as a line of at most {_LONGEST['token']}, without spaces",
}
_ID_SHAPED = re.compile("[0-9a-f]{8,64}")
_GRADER = re.compile("json-label-match|model:.+|http:.+")


def fault(form: str, text: str) -> str | None:
    """What is wrong with `text` as a `form`, with what to write instead; None when nothing is.

    `line` is one printable line, `name` a line that cannot be taken for an ID or an option, `sentence` one line of
    prose, `text` prose with line ends, `grader` a grader's specification, `token` a line without spaces.
    """
    if not text.strip():
        return "is empty; write some text"
    if len(text) > _LONGEST[form]:
        return f"is {len(text)} characters long; write at most {_LONGEST[form]}"
    if bad := _refused_character(form, text):
        return bad
    if form == "sentence" or form == "text":
        return None
    if text != text.strip():
        return "begins or ends with a space; remove it"
    return _SHAPES[form](text) if form in _SHAPES else None


def _refused_character(form: str, text: str) -> str | None:
    allowed = "\n\t" if form == "text" else ""
    for position, character in enumerate(text, start=1):
        if character in allowed:
            continue
        prose = form in ("sentence", "text")
        category = unicodedata.category(character)
        refused = category in ("Cc", "Cs", "Zl", "Zp") or (not prose and not character.isprintable())
        if refused:
            what = {"\n": "a line end", "\t": "a tab"}.get(character, f"the character U+{ord(character):04X}")
            return f"holds {what} at position {position}; write {'it' if prose else 'one line'} without"
    return None


def _name(text: str) -> str | None:
    if _ID_SHAPED.fullmatch(text):
        return "looks like an ID (8 to 64 hex digits); write a name with another character in it"
    if text.startswith("-"):
        return "begins with a hyphen and would be taken for an option; write a name that does not"
    return None


def _grader(text: str) -> str | None:
    return None if _GRADER.fullmatch(text) else "is no grader; write json-label-match, model:MODEL or http:URL"


def _token(text: str) -> str | None:
    return "holds a space; write a token without" if " " in text else None


_SHAPES = {"name": _name, "grader": _grader, "token": _token}
