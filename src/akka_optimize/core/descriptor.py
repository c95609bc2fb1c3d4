"""A run descriptor: what is wrong with one, what it means once every default is filled in, and a commented one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from akka_optimize.core import commented, division, values
from akka_optimize.core.fields import BY_PATH, CONTAINERS, FIELDS, unknown
from akka_optimize.core.problems import Problem, described, quoted
from akka_optimize.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Document

_SIZE = "config.hyperparams.training.sequencesPerUpdate"
_DIVIDED = (_SIZE, division.GPUS, division.PER_PASS)
_PLAIN_KEY = re.compile(r"[\w-]{1,60}")


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a descriptor means.

    `descriptor` holds every field of the table, in its order and type; `config` and `execution` are its parts of that
    name. `stated` are the sorted paths that the descriptor set itself.
    """

    descriptor: Document
    config: Document
    execution: Document
    stated: tuple[str, ...]


def problems(document: Any) -> tuple[Problem, ...]:
    """Every fault of a descriptor that can be told without a base model and a dataset; none for a good one."""
    if not isinstance(document, dict):
        return (Problem("", document, f"{quoted(document)} is no run descriptor; write a mapping with kind: run"),)
    entries = dict(_entries("", document))
    found = [Problem(path, value, reason) for path, value in entries.items() if (reason := _fault(path, value))]
    found += [
        Problem(field.path, None, f"missing; write {values.wanted(field)}")
        for field in FIELDS
        if field.required and not any(_covers(path, field.path) for path in entries)
    ]
    if not any(_covers(problem.path, path) for problem in found for path in _DIVIDED):
        size, gpus, per_pass = (_value(entries, path) for path in _DIVIDED)
        uneven = division.fault(size, gpus, per_pass)
        found += [uneven] if uneven else []
    return tuple(found)


def resolve(document: Any) -> Resolution:
    """Fill in every default. Raises Invalid that names every fault, with the first one's path as its field."""
    if found := problems(document):
        raise Invalid(described(found), field=found[0].path or None)
    entries = dict(_entries("", document))
    descriptor: Document = {}
    for field in FIELDS:
        *parents, key = field.path.split(".")
        holder = descriptor
        for parent in parents:
            holder = holder.setdefault(parent, {})
        holder[key] = _value(entries, field.path)
    config, execution = descriptor["config"], descriptor["execution"]
    if execution["sequencesPerPass"] is None:
        execution["sequencesPerPass"] = division.divide(config, execution).sequences_per_pass
    return Resolution(descriptor, config, execution, tuple(sorted(entries)))


def notes(config: Document, steps: int) -> tuple[str, ...]:
    """What is allowed in a resolved `config` with a horizon of `steps` updates, and probably not meant."""
    optimizer, training = config["hyperparams"]["optimizer"], config["hyperparams"]["training"]
    found = []
    if optimizer["warmupSteps"] > steps:
        found.append(
            f"config.hyperparams.optimizer.warmupSteps: {optimizer['warmupSteps']} is more than the run's {steps} "
            "updates, so the learning rate never reaches its peak"
        )
    if training["validationFrequencySteps"] and not training["validationShare"]:
        found.append(
            "config.hyperparams.training.validationFrequencySteps: nothing is validated, as validationShare is 0"
        )
    return tuple(found)


def template(
    *, workload: str, base_model: str, dataset: str, name: str | None = None, purpose: str | None = None
) -> str:
    """A descriptor in YAML with the chosen values, and every other field commented out at its default.

    Raises Invalid when a chosen value is not one that its field takes.
    """
    chosen = {
        "kind": "run",
        "workload": workload,
        "baseModel": base_model,
        "name": name,
        "purpose": purpose,
        "config.dataset": dataset,
    }
    given = {path: value for path, value in chosen.items() if value is not None}
    found = [Problem(path, value, reason) for path, value in given.items() if (reason := _fault(path, value))]
    if found:
        raise Invalid(described(tuple(found)), field=found[0].path)
    return commented.render(given)


def _entries(prefix: str, mapping: Document) -> Iterator[tuple[str, Any]]:
    """Every path that a document sets, with its value: fields, unknown ones, and parts that are no mapping."""
    for key, value in mapping.items():
        segment = key if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) else quoted(key)
        path = f"{prefix}{segment}"
        if path in CONTAINERS and isinstance(value, dict):
            yield from _entries(f"{path}.", value)
        else:
            yield path, value


def _fault(path: str, value: Any) -> str | None:
    if path in CONTAINERS:
        inside = f"write its fields under it, such as {_first_inside(path)}"
        if value is None:
            return f"null is no value; {inside}" + ("" if path == "config" else ", or leave it out")
        return f"{quoted(value)} is no mapping; {inside}"
    return values.fault(BY_PATH[path], value) if path in BY_PATH else unknown(path)


def _covers(path: str, other: str) -> bool:
    """Is `other` the place at `path`, or one within it?"""
    return f"{other}.".startswith(f"{path}.")


def _first_inside(path: str) -> str:
    return next(field.path for field in FIELDS if field.path.startswith(f"{path}."))[len(path) + 1 :]


def _value(entries: dict[str, Any], path: str) -> Any:
    """A faultless document's value at a path: the one given, in the field's type, or the default."""
    return values.resolved(BY_PATH[path], entries[path]) if path in entries else BY_PATH[path].default
