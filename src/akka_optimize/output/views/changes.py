"""How what differs between two plans is written: the change, and not the configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from akka_optimize.records import Document, Run

DIGITS, SHA256_DIGITS = 12, 64  # of a hash: shown, and all


def each(changed: Sequence[Document]) -> list[str]:
    """`learningRate 0.0001 -> 0.0003` for each change, by the last words of its path that tell it from the others."""
    names = _names([change["path"] for change in changed])
    return [
        f"{name} {_value(change['from'])} -> {_value(change['to'])}"
        for name, change in zip(names, changed, strict=True)
    ]


def line(changed: Sequence[Document], *, several: bool) -> str:
    """All of them on one line; where there are `several` at once, that comes first."""
    told = ", ".join(each(changed))
    return f"several at once: {told}" if several else told


def several(run: Run) -> bool:
    """Does a child differ from its parent in more than one setting, so that nobody can tell which one did what?"""
    return len(run.changed or ()) > 1


def of_child(run: Run) -> str | None:
    """What a child changes of its parent's plan, on one line; None for a run that is no child.

    A child of a time when that was not recorded shows its label.
    """
    if run.parent_run_id is None:
        return None
    if run.changed is None:
        return run.config_name
    return line(run.changed, several=several(run)) or "nothing"


def lines(run: Run) -> str | None:
    """The same, a line for each change."""
    if run.changed is None:
        return "\n".join(f"{path}: {value}" for path, value in (run.changes or {}).items()) or None
    told = [f"{change['path']}: {_value(change['from'])} -> {_value(change['to'])}" for change in run.changed]
    if several(run):
        told.append(f"{len(told)} at once: a comparison with the parent cannot tell which one did what")
    return "\n".join(told) or None


def _names(paths: Iterable[str]) -> list[str]:
    """For each path the fewest of its last words in which no other one ends."""
    split = [path.split(".") for path in paths]
    return [".".join(words if words[0] == "source" else _shortest(words, split)) for words in split]


def _shortest(words: list[str], among: Sequence[list[str]]) -> list[str]:
    own = (words[-count:] for count in range(1, len(words)))
    return next((ending for ending in own if sum(each[-len(ending) :] == ending for each in among) == 1), words)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value[:DIGITS] if len(value) == SHA256_DIGITS else value
    if isinstance(value, dict) and value.keys() == {"restore", "weights"}:  # a source
        return f"{value['restore']} of {_value(value['weights'])}"
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
