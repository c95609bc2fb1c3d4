"""The grid of a sweep, out of its document."""

from __future__ import annotations

from akka_optimize import documents
from akka_optimize.core import grid
from akka_optimize.records import Axis

STDIN = "-"


def axes(path: str, *, restore: str) -> tuple[Axis, ...]:
    """The axes of the grid at `path` ('-' = standard input), checked and counted, and not expanded.

    Raises WrongUsage (the file), Invalid (what it holds, every fault with its line), Exhausted (too many points).
    """
    document, places = documents.read_located(path, what="grid")
    source = "standard input" if path == STDIN else path
    found = grid.read(document, grid.Where(source, places), restore=restore)
    grid.require_room(found, source=source)
    return found
