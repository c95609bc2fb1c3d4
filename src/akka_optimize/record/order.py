"""Runs in an order in which none comes before the one that it branched from."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from akka_optimize import errors

if TYPE_CHECKING:
    from collections.abc import Mapping


def roots_first(parents: Mapping[str, str | None], created: Mapping[str, str]) -> list[str]:
    """The ids in `parents` (id -> parent's id, which need not be one of them), parents first, else oldest first.

    `created`: id -> RFC 3339 time. Raises Invalid where runs are said to descend from each other.

    >>> roots_first({"b": "a", "a": None, "c": None}, {"a": "2", "b": "3", "c": "1"})
    ['c', 'a', 'b']
    """
    children: dict[str, list[str]] = {}
    ready: list[tuple[str, str]] = []
    for run_id, parent in parents.items():
        if parent is not None and parent in parents:
            children.setdefault(parent, []).append(run_id)
        else:
            ready.append((created[run_id], run_id))
    heapify(ready)
    ordered: list[str] = []
    while ready:
        _, run_id = heappop(ready)
        ordered.append(run_id)
        for child in children.get(run_id, ()):
            heappush(ready, (created[child], child))
    if len(ordered) < len(parents):
        circle = ", ".join(sorted(parents.keys() - set(ordered)))
        raise errors.Invalid(f"runs {circle} are said to descend from each other", field="parent")
    return ordered
