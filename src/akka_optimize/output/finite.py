"""Numbers that JSON cannot hold: a document has null in their place, and says in `nonFinite` what they were."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from akka_optimize.output.view import Document, Field, camel, plain

NON_FINITE = Field("nonFinite", "which of its numbers is NaN or infinite, and null in its place")


def word(number: float) -> str:
    """What a number that is not finite is called: `NaN`, `Infinity` or `-Infinity`."""
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def formatted(number: float, form: str) -> str:
    """The number in the given format, or its name."""
    return format(number, form) if math.isfinite(number) else word(number)


def stating(*attributes: str) -> Callable[[Any], Document]:
    """The `to_json` of a record whose `attributes` are floats or None: its plain document, with `nonFinite` last."""

    def to_json(record: Any) -> Document:
        found = [(name, getattr(record, name)) for name in attributes]
        stated = [
            {"field": camel(name), "value": word(value)}
            for name, value in found
            if value is not None and not math.isfinite(value)
        ]
        return {**plain(record), NON_FINITE.name: stated}

    return to_json
