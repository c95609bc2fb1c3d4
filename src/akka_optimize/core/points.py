"""One point of a grid: the change document that a child run trains under.

A point is a flat mapping from paths below `config` to values. Its canonical text, and so the id of its child, depends
on neither the order of its paths nor on how a number was written: `1` and `1.0` for a float field are one value.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from akka_optimize.core import fields, values
from akka_optimize.core.fields import BY_PATH, CONTAINERS
from akka_optimize.core.labels import label
from akka_optimize.core.problems import Problem, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Document

__all__ = ["RESTORES", "canonical", "child_run_id", "flatten", "label", "nested", "path_fault", "problems", "typed"]

RESTORES = ("weights", "trainingState")
LEARNING_RATE = "hyperparams.optimizer.learningRate"
VALIDATION = "hyperparams.training.validationFrequencySteps"
ID_DIGITS = 16

_TRAINING = "hyperparams.training"
_HORIZON = (f"{_TRAINING}.epochs", f"{_TRAINING}.maxSteps", f"{_TRAINING}.steps", "epochs", "maxSteps", "steps")
_PLAIN_KEY = re.compile(r"[\w-]{1,60}")


def flatten(overrides: Document) -> dict[str, Any]:
    """The fields that a nested change document sets, by path, in its order; `nested` undoes it.

    Only groups of fields are gone into: anything else is a value, and a key that is no plain word is quoted, so that
    `problems` can name both.
    """
    return dict(_leaves("", overrides))


def nested(changes: Mapping[str, Any]) -> Document:
    """The change document with a mapping for each group: what a hand-written override document holds.

    >>> nested({"hyperparams.optimizer.learningRate": 1e-05, "hyperparams.lora.rank": 8})
    {'hyperparams': {'optimizer': {'learningRate': 1e-05}, 'lora': {'rank': 8}}}
    """
    document: Document = {}
    for path, value in changes.items():
        *groups, key = path.split(".")
        holder = document
        for group in groups:
            holder = holder.setdefault(group, {})
        holder[key] = value
    return document


def typed(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Faultless changes with each value in its field's type. Raises Invalid for a path that is no field."""
    return {path: values.resolved(fields.field(f"config.{path}"), value) for path, value in changes.items()}


def canonical(changes: Mapping[str, Any]) -> str:
    """The text that stands for a faultless point: JSON, paths sorted, values in their field's type.

    >>> canonical({"hyperparams.optimizer.learningRate": 1, "hyperparams.lora.rank": 8})
    '{"hyperparams.lora.rank": 8, "hyperparams.optimizer.learningRate": 1.0}'
    """
    return json.dumps(typed(changes), sort_keys=True, allow_nan=False)


def child_run_id(token: str, changes: Mapping[str, Any]) -> str:
    """The id of the child that a faultless point has under a submission's token: 16 hex digits."""
    return hashlib.sha256(f"{token}\n{canonical(changes)}".encode()).hexdigest()[:ID_DIGITS]


def problems(changes: Mapping[str, Any], *, restore: str = "weights", continues: bool = False) -> tuple[Problem, ...]:
    """Every fault of a point that can be told without a base model and a dataset; none for a good one.

    A path must name a field of `config` other than the horizon; under `trainingState` the learning rate, or for a child
    that `continues` its parent the rhythm of validation.
    """
    found = []
    for path, value in changes.items():
        reason = path_fault(path, restore=restore, continues=continues) or _value_fault(path, value)
        if reason:
            found.append(Problem(path, value, reason))
    return tuple(found)


def path_fault(path: str, *, restore: str = "weights", continues: bool = False) -> str | None:
    """Why a child cannot set `path` to anything, and what to write instead; None when it can."""
    first = path.split(".")[0]
    if first == "config":
        below = path.removeprefix("config.")
        known = below != path and path_fault(below, restore=restore, continues=continues)
        return known or f"paths begin below config; write {below if below != path else 'them without it'}"
    if path in _HORIZON:
        return "the horizon of every child is --steps; leave it out"
    if first == "execution":
        return "how a run is carried out is inherited from the parent; name a field of config"
    if f"config.{path}" in CONTAINERS:
        return f"a group of fields, and no field; name one of them, such as {_first_inside(path)}"
    if f"config.{path}" not in BY_PATH:
        return _unknown(path)
    if restore != "trainingState" or path == LEARNING_RATE or (continues and path == VALIDATION):
        return None
    if continues:
        return f"a run that is continued takes {LEARNING_RATE} and {VALIDATION} alone; `branch` changes more"
    return f"not under --restore trainingState, which takes {LEARNING_RATE} alone"


def _value_fault(path: str, value: Any) -> str | None:
    field = BY_PATH[f"config.{path}"]
    if value is None:  # leaving it out keeps the parent's value, and not the default
        return f"null is no value; write {values.wanted(field)}"
    return values.fault(field, value)


def _unknown(path: str) -> str:
    if path in BY_PATH:
        return "no field of config, and nothing that a child can change"
    meant = (fields.nearest(f"config.{path}") or "").removeprefix("config.")
    if meant.startswith("execution."):
        return f"no field of config, and {meant} is inherited from the parent"
    if meant in _HORIZON:
        return "no field of config; the horizon of every child is --steps"
    return f"no field of config; the nearest is {meant}" if f"config.{meant}" in BY_PATH else "no field of config"


def _first_inside(path: str) -> str:
    inside = (known.removeprefix("config.") for known in BY_PATH)
    return next(known for known in inside if known.startswith(f"{path}."))


def _leaves(prefix: str, document: Document) -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        path = f"{prefix}{key if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) else quoted(key)}"
        if isinstance(value, dict) and f"config.{path}" in CONTAINERS:
            yield from _leaves(f"{path}.", value)
        else:
            yield path, value
