"""What a point is called: the few words that tell it from the other points of its grid."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from akka_optimize.core.problems import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z0-9_./:-]+")
_MEANT_OTHERWISE = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|null|true|false")


def label(changes: Mapping[str, Any]) -> str:
    """Each path, by its shortest suffix that no other one ends in, with its value; in the order given.

    Different points on the same paths have different labels.

    >>> label({"hyperparams.optimizer.learningRate": 1e-05, "hyperparams.lora.rank": 8})
    'learningRate=1e-05, rank=8'
    """
    names = suffixes(tuple(changes))
    return ", ".join(f"{name}={_written(value)}" for name, value in zip(names, changes.values(), strict=True))


def suffixes(paths: Sequence[str]) -> list[str]:
    """For each path the fewest of its last segments in which no other path ends; the whole where none will do.

    >>> suffixes(["a.rank", "b.rank", "b.alpha"])
    ['a.rank', 'b.rank', 'alpha']
    """
    owners: dict[str, int] = {}
    for path in paths:
        for suffix in _suffixes(path):
            owners[suffix] = owners.get(suffix, 0) + 1
    return [next((suffix for suffix in _suffixes(path) if owners[suffix] == 1), path) for path in paths]


def _suffixes(path: str) -> list[str]:
    """From the shortest to the whole path."""
    segments = path.split(".")
    return [".".join(segments[start:]) for start in range(len(segments) - 1, -1, -1)]


def _written(value: Any) -> str:
    """A value as JSON, with plain words bare; only what no field can take is cut."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and not _MEANT_OTHERWISE.fullmatch(value):
            return value
        return json.dumps(value, ensure_ascii=not value.isprintable())
    return quoted(value)
