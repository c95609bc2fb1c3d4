"""Reads the transcripts of a page, and compares what it shows with what a shell printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FENCE = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)
ID = re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{12,64}\b|\b(?:ID|HASH)\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z|\bTIME\b")
NUMBER = re.compile(r"[+-]?\d+\.\d+(?:e-?\d+)?")
REST = "..."


def transcripts(page: Path) -> Iterator[tuple[str, str]]:
    """Each command of a page with the output shown; a command goes on over lines that end in a backslash."""
    for block in FENCE.findall(page.read_text()):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.splitlines()
            count = 1
            while lines[count - 1].endswith("\\"):
                count += 1
            yield "\n".join(lines[:count]), "\n".join(lines[count:])


def normal(text: str) -> list[str]:
    """Lines with ids and times replaced by words, and runs of spaces by one."""
    replaced = TIME.sub("<time>", ID.sub("<id>", text))
    return [" ".join(line.split()) for line in replaced.splitlines() if line.strip()]


def differences(shown: str, printed: str, *, tolerance: float) -> list[str]:
    """What differs, line by line; numbers with a point may differ by `tolerance`, and `...` stands for the rest."""
    expected, found = normal(shown), normal(printed)
    if REST in expected:
        expected = expected[: expected.index(REST)]
        found = found[: len(expected)]
    if len(expected) != len(found):
        return [f"shown {len(expected)} lines, printed {len(found)}", *found]
    return [f"shown {a!r}, printed {b!r}" for a, b in zip(expected, found, strict=True) if not alike(a, b, tolerance)]


def alike(shown: str, printed: str, tolerance: float) -> bool:
    """Are the two lines the same but for numbers that are near each other?"""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(abs(float(a) - float(b)) <= tolerance for a, b in pairs)
