"""How a run's curves are shown: a table of chosen columns, JSON with all of them, or CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from akka_optimize.errors import WrongUsage
from akka_optimize.output.finite import word
from akka_optimize.output.text import grid
from akka_optimize.output.view import Field, View

if TYPE_CHECKING:
    from akka_optimize.records import MetricsTable, NonFinite

DEFAULT_COLUMNS = ("loss", "validationLoss")
KNOWN_COLUMNS = ("loss", "validationLoss", "gradNorm", "clipped", "learningRate", "tokens", "seconds")
HEADINGS = {
    "loss": "LOSS",
    "validationLoss": "VALIDATION LOSS",
    "gradNorm": "GRADIENT NORM",
    "clipped": "CLIPPED",
    "learningRate": "LEARNING RATE",
    "tokens": "TOKENS",
    "seconds": "SECONDS",
}
_TYPES: dict[str, Callable[[float], object]] = {"clipped": bool, "tokens": int}


def _values(table: MetricsTable, name: str) -> list[Any]:
    """One column in its own type; None where it was not recorded, floats that are not finite as they are."""
    if name not in table.columns:
        return [None] * len(table.steps)
    cast = _TYPES.get(name, float)
    pairs = zip(table.columns[name].tolist(), table.recorded[name].tolist(), strict=True)
    return [(cast(value) if math.isfinite(value) else value) if there else None for value, there in pairs]


def _names(table: MetricsTable) -> list[str]:
    return [*KNOWN_COLUMNS, *sorted(set(table.columns) - set(KNOWN_COLUMNS))]


def _rows(table: MetricsTable, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(table.steps.tolist(), *(_values(table, name) for name in names), strict=True)


def to_json(table: MetricsTable) -> dict[str, Any]:
    """All columns, a row a step; a number that is not finite is null, and told in `nonFinite`."""
    keys = ("step", *_names(table))
    return {
        "runId": table.run_id,
        "measurements": [
            {key: _number(value) for key, value in zip(keys, row, strict=True)} for row in _rows(table, keys[1:])
        ],
        "nonFinite": [row for each in table.non_finite for row in _non_finite(each)],
        "replaced": table.replaced,
    }


def _number(value: Any) -> Any:
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _non_finite(found: NonFinite) -> Iterator[dict[str, Any]]:
    blocks = found.ranges
    for first, last, count in zip(
        blocks.first_steps.tolist(), blocks.last_steps.tolist(), blocks.counts.tolist(), strict=True
    ):
        yield {"metric": found.metric, "value": found.value, "firstStep": first, "lastStep": last, "steps": count}


def to_csv(table: MetricsTable) -> str:
    """All columns, every digit; empty where nothing was recorded, and NaN, Infinity or -Infinity where that was."""
    names = _names(table)
    lines = (",".join(map(_csv_cell, row)) for row in _rows(table, names))
    return "\n".join([",".join(["step", *names]), *lines]) + "\n"


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and not math.isfinite(value):
        return word(value)
    return repr(value)


def with_columns(fields: str | None) -> View:
    """The view whose table shows `fields`, names joined by commas, beside the usual columns. Raises WrongUsage."""
    extra = [name.strip() for name in fields.split(",")] if fields is not None else []
    for name in extra:
        if name not in KNOWN_COLUMNS:
            raise WrongUsage(f"--fields: runs record no {name!r}", hint=f"choose from {', '.join(KNOWN_COLUMNS)}")
    shown = list(dict.fromkeys([*DEFAULT_COLUMNS, *extra]))

    def to_text(table: MetricsTable) -> str:
        return grid(["STEP", *(HEADINGS[name] for name in shown)], list(_rows(table, shown)))

    return View(name="metrics", fields=FIELDS, to_json=to_json, to_text=to_text, renderers={"csv": to_csv})


FIELDS = (
    Field("runId", "the run"),
    Field("measurements", "a row for each step: every metric, null where it was not recorded or no finite number"),
    Field("nonFinite", "where a metric was NaN or infinite"),
    Field("replaced", "values that a later attempt recorded again"),
)
METRICS = with_columns(None)
