"""What is wrong with the points of a fan: every fault of every point, in one error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from akka_optimize import errors
from akka_optimize.core import points
from akka_optimize.core.problems import Problem

OF_POINT = (errors.Invalid, errors.NotFound, errors.Ambiguous, errors.Unsupported, errors.Refused)

Faults = dict[int, tuple[Problem, ...]]  # by the point's index, from 0


def of_points(wanted: Sequence[Mapping[str, Any]], restore: str, *, continues: bool = False) -> Faults:
    """What can be told without a base model and a dataset: unsound paths and values, and a point that comes twice."""
    found: Faults = {}
    first: dict[str, int] = {}
    for index, changes in enumerate(wanted):
        if wrong := points.problems(changes, restore=restore, continues=continues):
            found[index] = wrong
        elif (earlier := first.setdefault(points.canonical(changes), index)) != index:
            path = next(iter(changes), "")
            found[index] = (Problem(path, changes.get(path), f"the same as point {earlier}"),)
    return found


def refused(changes: Mapping[str, Any], error: errors.AkkaError) -> Problem:
    """What the trainer holds against a point, as a fault of the point. Raises the error when it is no point's."""
    if error.field is None:
        raise error
    path = error.field.removeprefix("config.")
    reason = error.message.removeprefix(f"{error.field}: ")
    return Problem(path, changes.get(path), reason)


def require_none(wanted: Sequence[Mapping[str, Any]], found: Faults) -> None:
    """Raise Invalid that names every fault of every point; its field is the path of the first."""
    if not found:
        return
    alone = len(wanted) == 1  # which is called no point: the user of `runs branch` wrote none
    lines = [line for index in sorted(found) for line in _lines(index, wanted[index], found[index], alone=alone)]
    if len(lines) > 1:
        count = f"{len(found)} of {len(wanted)} points {'is' if len(found) == 1 else 'are'} faulty"
        if alone:
            count = f"{len(lines)} changes are faulty"
        lines = [f"{count}, and nothing was submitted:", *(f"  {line}" for line in lines)]
    first = found[min(found)][0]
    raise errors.Invalid("\n".join(lines), field=first.path or "points")


def _lines(index: int, changes: Mapping[str, Any], problems: Iterable[Problem], *, alone: bool) -> Iterable[str]:
    label = points.label(changes)
    which = "" if alone else f"point {index}{f' ({label})' if label else ''}: "
    for problem in problems:
        yield f"{which}{problem}"
