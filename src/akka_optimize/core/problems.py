"""One fault of a document, and how a value is quoted in it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

LONGEST_QUOTE = 60
_WIDEST_INTEGER = 200  # bits; a wider one is described, as Python refuses to write out the widest


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault: the dotted path from the document's root, the value found there, and what to write instead."""

    path: str
    value: Any
    reason: str

    def __str__(self) -> str:
        """The fault as one line, `path: reason`."""
        return f"{self.path}: {self.reason}" if self.path else self.reason


def quoted(value: Any) -> str:
    """A value as it is written in JSON, on one line, cut where it is long. Raises nothing, whatever the value."""
    if isinstance(value, int) and value.bit_length() > _WIDEST_INTEGER:
        return f"an integer of about {int(value.bit_length() * math.log10(2)) + 1} digits"
    try:
        text = json.dumps(value, ensure_ascii=False)
        if not text.isprintable():
            text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):  # not JSON, or an integer too wide to write, or too deep
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def described(problems: tuple[Problem, ...]) -> str:
    """All faults in one message: one alone as it is, several under a count, a line each."""
    if len(problems) == 1:
        return str(problems[0])
    return "\n".join([f"{len(problems)} faults:", *(f"  {problem}" for problem in problems)])
