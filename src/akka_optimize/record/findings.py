"""What a check of a folder finds, gathered file by file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from akka_optimize.records import Mismatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from akka_optimize.record.files import Seen

MOST = 1000
LONGEST = 1000  # characters of a problem
SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one place says of a file: its sha256 or how that begins (None: only that it is there), and its bytes."""

    by: str
    digest: str | None
    size: int | None
    may_be_gone: bool


@dataclass(slots=True)
class Findings:
    """What was said of files so far, and what they are to be."""

    said: list[Mismatch] = field(default_factory=list)
    wanted: dict[str, list[Wanted]] = field(default_factory=dict)

    def say(self, file: str, problem: str) -> None:
        """Note that `file`, a path below the folder or "" for the folder, is not as it should be."""
        self.said.append(Mismatch(_clean(file), problem.encode(errors="backslashreplace").decode()[:LONGEST]))

    def want(
        self, file: str, digest: str | None, by: str, *, size: int | None = None, may_be_gone: bool = False
    ) -> None:
        """Note what `by` says of a file. One that `may_be_gone` is asked for by somebody else, or not at all."""
        self.wanted.setdefault(file, []).append(Wanted(by, digest, size, may_be_gone))

    def settle(self, seen: Mapping[str, Seen]) -> None:
        """Hold what was wanted against what is there; each file is named once, with all that it does not fit."""
        named = {found.file for found in self.said}
        for file, wanted in self.wanted.items():
            if (found := seen.get(file)) is not None:
                self._hold(file, found, wanted)
            elif _clean(file) not in named and not all(each.may_be_gone for each in wanted):
                by = _joined(dict.fromkeys(each.by for each in wanted if each.by and not each.may_be_gone))
                self.say(file, f"is missing; {by} names it" if by else "is missing")

    def mismatches(self) -> tuple[Mismatch, ...]:
        """All of them, by file; past `MOST` only how many."""
        found = sorted(dict.fromkeys(self.said), key=lambda each: each.file)
        if len(found) <= MOST:
            return tuple(found)
        return (*found[:MOST], Mismatch("", f"{len(found) - MOST} more problems are not shown"))

    def _hold(self, file: str, found: Seen, wanted: list[Wanted]) -> None:
        wrong = [each for each in wanted if each.digest is not None and not found.digest.startswith(each.digest)]
        if not wrong:
            return
        by: dict[str, list[str]] = {}
        for each in wrong:
            by.setdefault(str(each.digest)[:SHOWN_DIGITS], []).append(each.by)
        told = ", ".join(f"{digest} in {_joined(dict.fromkeys(places))}" for digest, places in by.items())
        sizes = [each for each in wrong if each.size is not None and each.size != found.size]
        size = f"has {found.size} bytes, and {sizes[0].size} in {sizes[0].by}; " if sizes else ""
        self.say(file, f"{size}its sha256 begins with {found.digest[:SHOWN_DIGITS]}, and with {told}")


def _joined(places: Mapping[str, None]) -> str:
    *others, last = places or ("",)
    return f"{', '.join(others)} and {last}" if others else last


def _clean(name: str) -> str:
    """A name as text that can be sent: bytes that are no UTF-8 are written out."""
    return os.fsencode(name).decode(errors="backslashreplace")
