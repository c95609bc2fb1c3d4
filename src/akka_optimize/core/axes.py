"""The axes of a grid, out of a document.

Every fault is told, with its place, and with both culprits where there are two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from akka_optimize.core.fields import BY_PATH
from akka_optimize.core.points import RESTORES, path_fault
from akka_optimize.core.problems import quoted
from akka_optimize.errors import Invalid
from akka_optimize.records import Axis

Keys = tuple[str | int, ...]  # the way to a place in a document: ("axes", 0, "path")

MOST_TOLD = 20
_PLAIN = re.compile(r"[\w.-]{1,100}")
_KEYS = ("path", "values")
_SHAPE = "a list of axes, each with a path and its values"


@dataclass(frozen=True, slots=True)
class Where:
    """Where a document came from, and line and column of each of its entries, as far as they are known."""

    source: str = ""
    positions: Mapping[Keys, tuple[int, int]] = field(default_factory=dict)

    def begin(self, keys: Keys) -> str:
        """What a message about a place begins with: `grid.yaml:4:5: `, or the way to it."""
        if keys in self.positions:
            line, column = self.positions[keys]
            return f"{self.source}:{line}:{column}: "
        return f"{self.source}: " * bool(self.source) + f"{dotted(keys)}: " * bool(keys)

    def mention(self, keys: Keys, name: str) -> str:
        """A place as a message about another one speaks of it: `axes[0] on line 4`."""
        return f"{name} on line {self.positions[keys][0]}" if keys in self.positions else name


NOWHERE = Where()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at one place of a grid."""

    at: Keys
    reason: str


def read(document: Any, where: Where = NOWHERE, *, restore: str = RESTORES[0]) -> tuple[Axis, ...]:
    """The axes that a grid's document lists. Raises Invalid, with every fault of its shape, or else as `check`."""
    _refuse(list(_shape_faults(document)), where)
    axes = tuple(Axis(axis["path"], tuple(axis["values"])) for axis in document["axes"])
    check(axes, where, restore=restore)
    return axes


def check(axes: Sequence[Axis], where: Where = NOWHERE, *, restore: str = RESTORES[0]) -> None:
    """Raise Invalid with every fault of the axes.

    A path names a field that a child restored in the `restore` way may change. No two axes set one field or parts of
    each other, and no value stands on its axis twice.
    """
    overlaps = dict(_overlaps(axes, where))
    found = []
    for index, axis in enumerate(axes):
        reason = overlaps.get(index) or path_fault(axis.path, restore=restore)
        if reason:
            found.append(Fault(("axes", index, "path"), f"{_shown(axis.path)}: {reason}"))
        found += _repeated(index, axis, where)
    _refuse(found, where)


def dotted(keys: Keys) -> str:
    """The way to a place as it is written: `axes[0].path`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _refuse(faults: Sequence[Fault], where: Where) -> None:
    if not faults:
        return
    lines = [f"{where.begin(fault.at)}{fault.reason}" for fault in faults[:MOST_TOLD]]
    if len(faults) > MOST_TOLD:
        lines.append(f"and {len(faults) - MOST_TOLD} more")
    message = lines[0] if len(faults) == 1 else "\n".join([f"{len(faults)} faults in the grid:", *lines])
    raise Invalid(message, field=dotted(faults[0].at) or None)


def _shape_faults(document: Any) -> Iterator[Fault]:
    if not isinstance(document, dict):
        yield Fault((), f"{quoted(document)} is no grid; write a mapping with axes, {_SHAPE}")
        return
    yield from (
        Fault((key,), f"unknown key {quoted(key)}; a grid has axes, and nothing else")
        for key in document
        if key != "axes"
    )
    if "axes" not in document:
        yield Fault((), f"the grid has no axes; write {_SHAPE}")
        return
    axes = document["axes"]
    if not isinstance(axes, list):
        yield Fault(("axes",), f"{quoted(axes)} is no list; write {_SHAPE}")
    elif not axes:
        yield Fault(("axes",), f"the grid has no axis; write {_SHAPE}")
    else:
        for index, axis in enumerate(axes):
            yield from _axis_faults(("axes", index), axis)


def _axis_faults(at: Keys, axis: Any) -> Iterator[Fault]:
    if not isinstance(axis, dict):
        yield Fault(at, f"{quoted(axis)} is no axis; write a mapping with a path and its values")
        return
    yield from (
        Fault((*at, key), f"unknown key {quoted(key)}; an axis has path and values") for key in axis if key not in _KEYS
    )
    yield from (Fault(at, f"the axis has no {key}; it needs path and values") for key in _KEYS if key not in axis)
    path, values = axis.get("path", "…"), axis.get("values", ["…"])
    if not isinstance(path, str):
        yield Fault((*at, "path"), f"{quoted(path)} is no path; name a field of config, such as hyperparams.lora.rank")
    if not isinstance(values, list):
        yield Fault((*at, "values"), f"{quoted(values)} is no list of values; write [{quoted(values)}]")
    elif not values:
        yield Fault((*at, "values"), f"the axis {_shown(path)} has no value; write at least one")


def _overlaps(axes: Sequence[Axis], where: Where) -> Iterator[tuple[int, str]]:
    """For each axis that sets what another one sets: which one, and how."""
    first: dict[str, int] = {}
    for index, axis in enumerate(axes):
        first.setdefault(axis.path, index)
    for index, axis in enumerate(axes):
        if first[axis.path] < index:
            yield index, f"set by two axes; the other is {_axis(first[axis.path], where)}"
        for outer in _groups_of(axis.path):
            if outer in first:
                yield index, f"lies within {outer}, which {_axis(first[outer], where)} sets"
                yield first[outer], f"holds {axis.path}, which {_axis(index, where)} sets"


def _groups_of(path: str) -> list[str]:
    return [path[:end] for end, character in enumerate(path) if character == "."]


def _axis(index: int, where: Where) -> str:
    return where.mention(("axes", index, "path"), f"axes[{index}]")


def _repeated(index: int, axis: Axis, where: Where) -> Iterator[Fault]:
    """The values that stand on their axis before, as the same number or the same text."""
    known = BY_PATH.get(f"config.{axis.path}")
    as_float = known is not None and known.kind == "float"
    seen: dict[Any, int] = {}
    for position, value in enumerate(axis.values):
        first = seen.setdefault(_identity(value, as_float), position)
        if first < position:
            at: Keys = ("axes", index, "values")
            other = where.mention((*at, first), f"values[{first}]")
            again = quoted(axis.values[first])
            yield Fault((*at, position), f"{_shown(axis.path)}: {quoted(value)} is {again} again, {other}")


def _identity(value: Any, as_float: bool) -> Any:
    """Equal for two values exactly when they are one: `8` and `8.0` are, `1` and `true` are not.

    `as_float`: the field holds floats, so that whole numbers which no float tells apart are one value too.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return json.dumps(value, sort_keys=True)
    try:
        return float(value) if as_float else value
    except OverflowError:
        return value


def _shown(path: object) -> str:
    return path if isinstance(path, str) and _PLAIN.fullmatch(path) else quoted(path)
