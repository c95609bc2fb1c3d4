"""The commented descriptor: what is chosen stands, everything else waits behind a `#` at its default."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from akka_optimize.core.fields import CONTAINERS, FIELDS, Field

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEAD = """\
# One run: akka-optimize training runs start -f FILE
# A setting behind a '#' shows its default. To change it, take the '# ' away there and from the headings above it.
"""
_PLAIN = re.compile("[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z][A-Za-z0-9_./-]*)*")
_WORDS = {"null", "true", "false"}
_WIDTH = 44  # where comments begin, unless a value is longer


def render(chosen: Mapping[str, Any]) -> str:
    """The descriptor in YAML, with the `chosen` values by path."""
    standing = {path[:end] for path in chosen for end, dot in enumerate(f"{path}.") if dot == "."}
    lines: list[str] = []
    opened: set[str] = set()
    for field in FIELDS:
        for container in (name for name in CONTAINERS if field.path.startswith(f"{name}.")):
            if container not in opened:
                opened.add(container)
                lines.append(_line(container, "", standing))
        value = chosen.get(field.path, field.default)
        lines.append(f"{_line(field.path, f' {written(value)}', standing):<{_WIDTH}}  # {_remark(field)}")
    return _HEAD + "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """A value as YAML 1.2 reads it back: plain where that is safe, else as JSON writes it."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def _line(path: str, value: str, standing: set[str]) -> str:
    """One line, behind a `#` that stands below the nearest heading that stands."""
    depth = path.count(".")
    line = f"{path.rpartition('.')[2]}:{value}"
    if path in standing:
        return "  " * depth + line
    nearest = next(
        level for level in range(depth, -1, -1) if level == 0 or ".".join(path.split(".")[:level]) in standing
    )
    return "  " * nearest + "# " + "  " * (depth - nearest) + line


def _remark(field: Field) -> str:
    meaning = f"{field.meaning} ({field.range})" if field.range else field.meaning
    if field.required:
        return f"{meaning}; required"
    return f"{meaning}; null = {field.default_note}" if field.optional and field.default_note != "none" else meaning
