"""Which functions a jq program calls: enough of jq's grammar to tell `input` from `.input` and `{input: 1}`."""

from __future__ import annotations

import re
from collections.abc import Iterator

TOKEN = re.compile(
    r"""
      (?P<skip> \s+ | \#(?:[^\\\n]|\\[\s\S])* )
    | (?P<field> \.[A-Za-z_]\w* )
    | (?P<variable> \$\s*[A-Za-z_][\w:]* )
    | (?P<format> @\w+ )
    | (?P<number> (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)? )
    | (?P<word> [A-Za-z_]\w*(?:::[A-Za-z_]\w*)* )
    | (?P<other> [\s\S] )
    """,
    re.VERBOSE | re.ASCII,
)
STRING_PART = re.compile(r'(?:[^"\\]|\\[^(])*')
OPEN = {"(": ")", "[": "]", "{": "}"}
INTERPOLATION = '"'


def called(program: str) -> Iterator[str]:
    """The words of a program that stand for a function or a keyword, in order; field names, object keys, variables,
    strings and comments left out, what is interpolated in a string included.

    A program with a syntax error yields what it can.
    """
    open_brackets: list[str] = []
    before, at = "", 0
    while at < len(program):
        match = TOKEN.match(program, at)
        assert match is not None, "one of the alternatives takes any character"
        at, kind, token = match.end(), match.lastgroup, match[0]
        if kind == "skip":
            continue
        if kind == "word" and not (open_brackets[-1:] == ["{"] and before in {"{", ","}):
            yield token
        elif token == INTERPOLATION:
            at = _string(program, at, open_brackets)
        elif token in OPEN:
            open_brackets.append(token)
        elif token in OPEN.values() and open_brackets and open_brackets.pop() == INTERPOLATION:
            at = _string(program, at, open_brackets)
        before = token


def _string(program: str, at: int, open_brackets: list[str]) -> int:
    """The place after a string's end, or after the `\\(` of its next interpolation, which is noted as open."""
    match = STRING_PART.match(program, at)
    assert match is not None, "the pattern matches nothing too"
    if program.startswith("\\(", match.end()):
        open_brackets.append(INTERPOLATION)
        return match.end() + 2
    return match.end() + 1
