"""One value against the field that it was given for."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from akka_optimize.core import texts
from akka_optimize.core.fields import LARGEST_INT
from akka_optimize.core.problems import quoted

if TYPE_CHECKING:
    from akka_optimize.core.fields import Field

_NUMBER = re.compile(r"[-+]?([0-9]+|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)")
_UNSUPPORTED = {
    "config.method": "is not supported by this trainer",
    "kind": "is not taken: a descriptor describes one run",
}


def fault(field: Field, value: Any) -> str | None:
    """Why `value` cannot stand in `field`, and what to write instead; None when it can.

    A whole number may stand for a float; nothing else is taken for what it is not. Null is fine where the field is
    optional.
    """
    if value is None:
        return None if field.optional else _null(field)
    if field.kind == "string":
        return _string(field, value)
    return _number(field, value)


def resolved(field: Field, value: Any) -> Any:
    """A faultless `value` in the field's own type: `1` is `1.0` where a float belongs, and -0.0 is 0.0."""
    return float(value) + 0.0 if field.kind == "float" and value is not None else value


def wanted(field: Field) -> str:
    """What to write in a field: `an integer from 1 to 256`, `a number > 0`, `FP32 or BF16`, or what the text means."""
    if field.choices:
        *others, last = field.choices
        return f"{', '.join(others)} or {last}" if others else last
    if field.kind == "string":
        return field.meaning if field.required else "text"
    noun = "an integer" if field.kind == "int" else "a number"
    if field.kind == "int" and " … " in field.range:
        return f"{noun} from {field.range.replace(' … ', ' to ')}"
    return f"{noun} {field.range}" if " x " not in field.range else f"{noun} x with {field.range}"


def _null(field: Field) -> str:
    if field.required:
        return f"null is no value; write {wanted(field)}"
    return f"null is no value; write {wanted(field)}, or leave it out for {quoted(field.default)}"


def _string(field: Field, value: Any) -> str | None:
    if not isinstance(value, str):
        meant = wanted(field) if field.choices else f"{json.dumps(quoted(value))} in quotes"
        if isinstance(value, (dict, list)):
            meant = wanted(field)
        return f"{quoted(value)} is {_noun(value)}; write {meant}"
    if not field.choices:
        bad = texts.fault(field.form, value)
        return f"{quoted(value)} {bad}" if bad else None
    if value in field.choices:
        return None
    return f"{quoted(value)} {_UNSUPPORTED.get(field.path, 'is not offered')}; write {wanted(field)}"


def _number(field: Field, value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        meant = _meant(field, value)
        if meant is None:
            return f"{quoted(value)} is {_noun(value)}; write {wanted(field)}"
        return f"{quoted(value)} is text; write {meant}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{quoted(value)} is not a finite number; write {wanted(field)}"
    if field.kind == "int" and isinstance(value, float):
        whole = value.is_integer() and field.contains(int(value))
        return f"{quoted(value)} is a float; write {int(value) if whole else wanted(field)}"
    if field.kind == "float" and not _fits_float(value):
        return f"{quoted(value)} is beyond what a float holds; write {wanted(field)}"
    if field.kind == "int" and value > LARGEST_INT and field.maximum is None:
        return f"{quoted(value)} is too large; write at most {LARGEST_INT}"
    return None if field.contains(value) else f"{quoted(value)} is out of range; write {wanted(field)}"


def _meant(field: Field, value: Any) -> str | None:
    """What a quoted number was meant to be: the number without its quotes, when the field takes it."""
    if not isinstance(value, str) or len(value) > 100 or not _NUMBER.fullmatch(value):
        return None
    if re.fullmatch("[-+]?[0-9]+", value) and fault(field, int(value)) is None:
        return f"{value} without quotes"
    number = float(value)
    if field.kind == "float":
        return f"{value} without quotes" if fault(field, number) is None else None
    whole = math.isfinite(number) and number.is_integer() and field.contains(int(number))
    return f"{int(number)}" if whole else None


def _fits_float(value: float) -> bool:
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _noun(value: Any) -> str:
    nouns = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", dict: "a mapping"}
    return nouns.get(type(value), "not a value of JSON")
