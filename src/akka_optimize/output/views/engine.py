"""How it is shown what a run's engine was asked for, what it made of that, and what it used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from akka_optimize.output.text import MISSING, grid, labelled
from akka_optimize.output.view import Document, Field, View

if TYPE_CHECKING:
    from akka_optimize.records import EngineConfig, EngineRuntime

PARTS = ("rolloutEngine", "trainer", "processes", "backend", "model", "memory")


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its path, in order; objects in lists by their place; an empty object or list is a leaf.

    >>> dict(flat({"adam": {"betas": [0.9, 0.99]}, "layers": [{"rank": 8}]}))
    {'adam.betas': [0.9, 0.99], 'layers[0].rank': 8}
    """
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from flat(below, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for place, item in enumerate(value):
            yield from flat(item, f"{path}[{place}]")
    else:
        yield path, value


def differences(record: EngineConfig) -> list[Document]:
    """Where something was asked for, and the engine does otherwise."""
    asked, made = dict(flat(record.requested)), dict(flat(record.resolved))
    return [
        {"path": path, "requested": wanted, "resolved": made.get(path)}
        for path, wanted in asked.items()
        if wanted is not None and not _same(wanted, made.get(path))
    ]


def _same(one: Any, other: Any) -> bool:
    """8 is 8.0, and 1 is not true."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _exact(value: Any) -> str:
    """A value with all of its digits."""
    if value is None:
        return MISSING
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def _config_json(record: EngineConfig) -> Document:
    return {
        "runId": record.run_id,
        "requested": record.requested,
        "resolved": record.resolved,
        "differences": differences(record),
    }


def _config_text(record: EngineConfig) -> str:
    asked, made = dict(flat(record.requested)), dict(flat(record.resolved))
    marked = {difference["path"] for difference in differences(record)}
    rows = [
        (path, _exact(asked.get(path)), _exact(made.get(path)), "differs" if path in marked else " ")
        for path in dict.fromkeys([*asked, *made])
    ]
    return grid(["PATH", "REQUESTED", "RESOLVED", " "], rows)


def _runtime_json(record: EngineRuntime) -> Document:
    told = record.runtime
    return {
        "runId": record.run_id,
        "attempt": record.attempt,
        **{name: told.get(name) for name in PARTS},
        "rolloutEngine": told.get("rolloutEngine") or [],
        "further": {name: value for name, value in told.items() if name not in PARTS},
    }


def _runtime_text(record: EngineRuntime) -> str:
    told = ((path, _exact(value)) for path, value in flat(record.runtime))
    return labelled([("runId", record.run_id), ("attempt", record.attempt), *told])


ENGINE_CONFIG = View(
    name="engine configuration",
    fields=(
        Field("runId", "the run"),
        Field("requested", "what its settings ask of the engine, null where the engine is to choose"),
        Field("resolved", "what the engine made of that, and its adapter as attached"),
        Field("differences", "where it does otherwise than asked: path, requested, resolved"),
    ),
    to_json=_config_json,
    to_text=_config_text,
)
ENGINE_RUNTIME = View(
    name="engine runtime",
    fields=(
        Field("runId", "the run"),
        Field("attempt", "the attempt that this is of"),
        Field("rolloutEngine", "engines that draw samples; none for supervised training"),
        Field("trainer", "changedBySetup: the settings that it carries out otherwise than asked"),
        Field("processes", "rank, device and threads of each"),
        Field("backend", "what the processes talk over"),
        Field("model", "parameters by type, how many are trained, and the layers with an adapter"),
        Field("memory", "bytes in use at named moments"),
        Field("further", "what else the engine tells"),
    ),
    to_json=_runtime_json,
    to_text=_runtime_text,
)
