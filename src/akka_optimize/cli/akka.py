"""The command `akka`: `akka optimize …` is ours; any other word goes to the next `akka` on PATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from akka_optimize.cli.main import occupy_closed_streams, run

OURS = "optimize"
PROGRAM = f"akka {OURS}"
NOT_FOUND, CANNOT_RUN = 127, 126
ONLY_OURS = f"this package provides only `{PROGRAM}`, and there is no other `akka` on PATH"


def main() -> NoReturn:
    """The console script `akka`."""
    occupy_closed_streams()
    args = sys.argv[1:]
    at = word_at(args)
    if at is not None and args[at] == OURS:
        sys.exit(run([*args[:at], *args[at + 1 :]], program=PROGRAM))
    sys.exit(hand_over(args))


def word_at(args: Sequence[str]) -> int | None:
    """Where the first word stands that is neither an option nor an option's value."""
    from akka_optimize.cli.options import INHERITED

    with_value = {flag for option in INHERITED if not option.is_flag for flag in option.opts}
    at = 0
    while at < len(args):
        if not args[at].startswith("-"):
            return at
        at += 2 if args[at] in with_value else 1
    return None


def hand_over(args: Sequence[str]) -> int:
    """Become the next `akka`; the exit code, where that cannot be."""
    from akka_optimize.output.console import Console

    other = next_akka(sys.argv[0], os.environ.get("PATH", os.defpath))
    if other is None:
        Console().failure(ONLY_OURS)
        return NOT_FOUND
    try:
        os.execv(other, [other, *args])
    except OSError as error:
        Console().failure(f"{other} cannot be run: {error.strerror}")
        return CANNOT_RUN


def next_akka(own: str, path: str) -> str | None:
    """The first executable `akka` on PATH after our own place there.

    Only after it: two installations of this package would otherwise hand the word to each other for ever.
    """
    ours = os.path.realpath(own)
    found = [os.path.join(folder or ".", "akka") for folder in path.split(os.pathsep)]
    found = [file for file in found if os.path.isfile(file) and os.access(file, os.X_OK)]
    same = [os.path.realpath(file) == ours for file in found]
    after = same.index(True) + 1 if True in same else 0
    return next((file for file, ours_too in zip(found[after:], same[after:], strict=True) if not ours_too), None)
