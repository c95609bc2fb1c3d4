"""`checksums.txt`: a line of `sha256sum` for every other file of a folder, and its own digest as the last line.

The last line stands behind a comment sign, so that `sha256sum --check` passes over it.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akka_optimize.errors import Invalid
from akka_optimize.record.layout import CHECKSUMS

if TYPE_CHECKING:
    from collections.abc import Mapping

LINE = re.compile(rb"(\\?)([0-9a-f]{64})  ([^\0]+)")
LAST = re.compile(rb"# ([0-9a-f]{64})  " + re.escape(CHECKSUMS.encode()))
ESCAPES = {b"\\": b"\\\\", b"\n": b"\\n", b"\r": b"\\r"}
ESCAPED = re.compile(rb"\\(.?)", re.S)


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list says: each file's sha256, 64 hex digits, by its path; and what is wrong with the list itself."""

    digests: dict[str, str]
    problems: tuple[str, ...]


def written(digests: Mapping[str, str]) -> bytes:
    """The list of these files, sha256 by path relative to the folder, sorted by path."""
    body = b"".join(_line(name, digests[name]) for name in sorted(digests))
    return body + f"# {hashlib.sha256(body).hexdigest()}  {CHECKSUMS}\n".encode()


def read(content: bytes) -> Listed:
    """A list and all that is wrong with it: every line of another form by its number, its own digest, its order."""
    digests: dict[str, str] = {}
    problems = []
    *rows, end = content.split(b"\n")
    if end:
        problems.append("its last line has no end; it was cut off")
        rows.append(end)
    last = LAST.fullmatch(rows[-1]) if rows else None
    if last is None:
        problems.append("its last line is not its own digest")
    body = b"".join(row + b"\n" for row in (rows[:-1] if last else rows))
    for number, row in enumerate(body.split(b"\n")[:-1], 1):
        if (entry := _entry(row)) is None:
            problems.append(f"its line {number} is not a sha256, two spaces and the path of a file")
        elif entry[0] in digests:
            problems.append(f"its line {number} lists a file again")
        else:
            digests[entry[0]] = entry[1]
    if last and hashlib.sha256(body).hexdigest().encode() != last[1]:
        problems.append("it was changed: its last line is not the sha256 of those before it")
    elif not problems and content != written(digests):
        problems.append("its lines are not in the order of their paths")
    return Listed(digests, tuple(problems))


def parse(content: bytes) -> dict[str, str]:
    """Each file's sha256 by its path. Raises Invalid, which names what is wrong with the list first."""
    listed = read(content)
    if listed.problems:
        raise Invalid(f"{CHECKSUMS}: {listed.problems[0]}")
    return listed.digests


def _line(name: str, digest: str) -> bytes:
    raw = os.fsencode(name)
    if any(sign in raw for sign in ESCAPES):  # as sha256sum writes such a name
        for sign, instead in ESCAPES.items():
            raw = raw.replace(sign, instead)
        return f"\\{digest}  ".encode() + raw + b"\n"
    return f"{digest}  ".encode() + raw + b"\n"


def _entry(row: bytes) -> tuple[str, str] | None:
    """Path and digest of a line; None where the line is of another form, or its path leads out of the folder."""
    found = LINE.fullmatch(row)
    if found is None:
        return None
    escaped, digest, raw = found.groups()
    if escaped:
        signs = {instead[1:]: sign for sign, instead in ESCAPES.items()}
        if any(part[1] not in signs for part in ESCAPED.finditer(raw)):
            return None
        raw = ESCAPED.sub(lambda part: signs[part[1]], raw)
    name = os.fsdecode(raw)
    if any(part in ("", ".", "..") for part in name.split("/")) or name == CHECKSUMS:
        return None
    return name, digest.decode()
