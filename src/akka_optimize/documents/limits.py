"""What both readers refuse, and where in the text it was found."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from akka_optimize.errors import Invalid

MOST_BYTES = 10 * 2**20
MOST_NODES = 100_000  # values in a document, those that an alias repeats counted again
DEEPEST = 64  # mappings and lists within each other
MOST_DIGITS = 640  # of an integer: the lowest limit that Python's own conversion can be set to

LINE_END = re.compile("\r\n|\n|\r")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Text:
    """A document's text and the name of where it came from; refuses at a position in it."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.nodes = 0
        self.marks: list[int] = []

    def refuse(self, position: int, reason: str) -> NoReturn:
        """Raise Invalid that begins with `source:line:column`, for a position counted from 0."""
        line, column = self.place(position)
        raise Invalid(f"{self.source}:{line}:{column}: {reason}")

    def refuse_repeated(self, position: int, key: str, first: int) -> NoReturn:
        """Refuse a key that its mapping already has."""
        shown = _cut(json.dumps(key, ensure_ascii=not key.isprintable()))
        self.refuse(position, f"the key {shown} appears twice; it was first on line {self.place(first)[0]}")

    def place(self, position: int) -> tuple[int, int]:
        """Line and column, both counted from 1, of a position counted from 0."""
        line, start = 1, 0
        for end in LINE_END.finditer(self.text, 0, position):
            line, start = line + 1, end.end()
        return line, position - start + 1

    def mark(self, position: int, entries: int = 1) -> None:
        """Note that an entry of the document begins here, or that an alias stands here for all its `entries`.

        An entry is the document itself, a key with its value, or an item of a list; they are marked in the order in
        which the finished document holds them.
        """
        self.marks += [position] * entries

    def count(self, position: int, nodes: int = 1) -> None:
        """Note that a value was read, or `nodes` of them at once."""
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            self.refuse(position, f"the document holds more than {MOST_NODES} values")

    def check_depth(self, position: int, depth: int) -> None:
        """Refuse mappings and lists that are nested too deep."""
        if depth > DEEPEST:
            self.refuse(position, f"nested more than {DEEPEST} deep")

    def integer(self, position: int, digits: str, base: int = 10) -> int:
        """The integer that `digits`, with an optional sign, stand for."""
        if len(digits) > MOST_DIGITS:
            self.refuse(position, f"an integer of {len(digits)} digits; at most {MOST_DIGITS} are read")
        return int(digits, base)

    def float(self, position: int, digits: str) -> float:
        """The float nearest to a decimal number. One that becomes infinite, or zero without being it, is refused."""
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            self.refuse(position, f"{_cut(digits)} is beyond the largest float")
        if number == 0 and re.search("[1-9]", re.split("[eE]", digits)[0]):
            self.refuse(position, f"{_cut(digits)} is below the smallest float")
        return number

    def check_surrogates(self, position: int, value: str) -> None:
        """Refuse half a character, which no file could hold."""
        if found := _SURROGATE.search(value):
            self.refuse(position, f"the lone surrogate \\u{ord(found[0]):04x} is half a character")


def check_text(text: Text) -> None:
    """Refuse what neither syntax allows anywhere: nothing at all, too much, half characters, NUL."""
    if not text.text.strip():
        text.refuse(0, "the document is empty")
    if len(text.text) > MOST_BYTES:
        text.refuse(0, f"the document is larger than {MOST_BYTES // 2**20} MiB")
    if found := re.search("[\ud800-\udfff\0]", text.text):
        text.check_surrogates(found.start(), found[0])
        text.refuse(found.start(), "a NUL character")


def _cut(digits: str) -> str:
    return digits if len(digits) <= 40 else f"{digits[:40]}…"
