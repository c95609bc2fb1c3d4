"""A grid of points: the product of its axes, whose size is known before anything of it is expanded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from akka_optimize.core.axes import Where, check, read
from akka_optimize.errors import Exhausted
from akka_optimize.records import Axis, Document

__all__ = ["MOST_BRANCHES", "Axis", "Where", "check", "documents", "points", "read", "require_room", "size"]

MOST_BRANCHES = 50  # of one parent from one snapshot: as many as one comparison scores


def size(axes: Sequence[Axis]) -> int:
    r"""How many points the grid has.

    $$ \prod_i |\mathrm{values}_i| $$
    """
    return math.prod(len(axis.values) for axis in axes)


def require_room(axes: Sequence[Axis], *, source: str = "the grid") -> None:
    """Raise Exhausted when the grid has more points than a snapshot may have branches."""
    if (found := size(axes)) > MOST_BRANCHES:
        factors = " x ".join(str(len(axis.values)) for axis in axes)
        raise Exhausted(
            f"{source}: {factors} values make {found} points; at most {MOST_BRANCHES} can branch from one snapshot",
            field="axes",
            hint="write fewer values: one comparison scores at most this many",
        )


def points(axes: Sequence[Axis]) -> list[dict[str, Any]]:
    """Every combination of the axes' values, path -> value; the last axis varies fastest.

    >>> points([Axis("a", (1, 2)), Axis("b", ("x", "y"))])[1]
    {'a': 1, 'b': 'y'}
    """
    paths = [axis.path for axis in axes]
    return [dict(zip(paths, values, strict=True)) for values in product(*(axis.values for axis in axes))]


def documents(axes: Sequence[Axis]) -> list[Document]:
    """The same points as nested change documents, which share no mapping with each other.

    Built key by key over all points, which takes a fraction of the time of building one point after the other.
    """
    columns = _columns(axes)
    tree: dict[str, Any] = {}
    for axis, column in zip(axes, columns, strict=True):
        *groups, key = axis.path.split(".")
        place = tree
        for group in groups:
            place = place.setdefault(group, {})
        place[key] = column
    return _grown(tree, size(axes))


def _columns(axes: Sequence[Axis]) -> list[list[Any]]:
    """For each axis its value at every point: each value as often as the later axes turn, all of it again and again."""
    inner, outer = size(axes), 1
    found = []
    for axis in axes:
        inner //= len(axis.values) or 1
        found.append([value for value in axis.values for _ in range(inner)] * outer)
        outer *= len(axis.values)
    return found


def _grown(tree: dict[str, Any], count: int) -> list[Document]:
    found: list[Document] = [{} for _ in range(count)]
    for key, below in tree.items():
        column = _grown(below, count) if isinstance(below, dict) else below
        for document, value in zip(found, column, strict=True):
            document[key] = value
    return found
