"""Names of folders and files that somebody else sends: none may lead out of the folder that it is said to be in."""

from __future__ import annotations

import re
import unicodedata

from akka_optimize import errors

FOLDER = re.compile(r"[0-9a-f]{16}-[0-9a-f]{12}")
DEEPEST = 8  # names in a path
LONGEST = 200  # bytes of a name


def run_id_of(folder: str) -> str:
    """The id of the run whose folder bears this name. Raises Invalid for what cannot name one.

    >>> run_id_of("7d496e82c3a15f04-e14ea5ff5f88")
    '7d496e82c3a15f04'
    """
    if not FOLDER.fullmatch(folder):
        raise errors.Invalid(f"{_shown(folder)} does not name the folder of a run, RUNID-CONFIGHASH", field="folder")
    return folder.partition("-")[0]


def check_file(path: str) -> None:
    """Raise Invalid unless `path` names a file below a run's folder: relative, nothing hidden, no `..`."""
    names = path.split("/")
    if len(names) > DEEPEST or not all(_is_plain(name) for name in names):
        raise errors.Invalid(f"{_shown(path)} does not name a file of a run's folder", field="path")


def _is_plain(name: str) -> bool:
    if not name or name.startswith(".") or "\\" in name or len(name.encode(errors="replace")) > LONGEST:
        return False
    return not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name)


def _shown(text: str) -> str:
    return repr(text) if len(text) <= LONGEST else f"{text[:LONGEST]!r}…"
