"""Records as text for people: a table for a list, a block of labelled rows for one record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from akka_optimize.output.finite import formatted
from akka_optimize.output.view import Column, Document, View, as_page, items

MISSING = "—"
GAP = "  "
# C0 and C1 controls, the marks that reorder text, line separators, and halves of surrogate pairs.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def render(view: View, record: object) -> str:
    """The text of a record or a list, ending in a newline unless empty."""
    listed = items(record)
    if listed is None:
        return _closed(view.to_text(record) if view.to_text else block(view, record))
    return table(view, listed) + footer(view, record)


def _closed(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def table(view: View, listed: Sequence[Any]) -> str:
    """Headings, then a line for each record; columns aligned, numbers to the right, nothing cut or wrapped."""
    columns = view.columns or _every_field(view)
    shown = ((record, view.document(record)) for record in listed)
    rows = [[_value(column, record, whole) for column in columns] for record, whole in shown]
    return grid([column.heading for column in columns], rows)


def grid(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of any values, as `table` lays it out."""
    cells = [list(headings), *([cell(value) for value in row] for row in rows)]
    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(headings))]
    widths = [max(width(row[i]) for row in cells) for i in range(len(headings))]
    return "".join(_line(row, widths, right) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        " " * (size - width(text)) + text if is_right else text + " " * (size - width(text))
        for text, size, is_right in zip(row, widths, right, strict=True)
    )
    return GAP.join(padded).rstrip() + "\n"


def footer(view: View, record: object) -> str:
    """Which part of a list this is, when it is not the whole."""
    page = as_page(record)
    if page is None or len(page.items) == page.total:
        return ""
    if not page.items:
        return f"none of {page.total} {view.plural}.\n"
    return f"{page.offset + 1} to {page.offset + len(page.items)} of {page.total} {view.plural}.\n"


def block(view: View, record: object) -> str:
    """One line for each row of the view: its heading, and its value; a value of many lines stays in its column."""
    columns = view.block or view.columns or _every_field(view)
    whole = view.document(record)
    pairs = [(column.heading, _value(column, record, whole)) for column in columns]
    return labelled([(heading, value) for heading, value in pairs])


def labelled(pairs: Sequence[tuple[str, object]]) -> str:
    """Labels and values, as `block` lays them out."""
    size = max((width(label) for label, _ in pairs), default=0) + len(GAP)
    lines = []
    for label, value in pairs:
        first, *rest = cell(value, newlines=True).split("\n")
        lines.append(label + " " * (size - width(label)) + first)
        lines += [" " * size + line for line in rest]
    return "".join(line.rstrip() + "\n" for line in lines)


def _every_field(view: View) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in view.names)


def _value(column: Column, record: object, whole: Document) -> object:
    if not isinstance(column.source, str):
        return column.source(record)
    value: Any = whole
    for name in column.source.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def cell(value: object, *, newlines: bool = False) -> str:
    """One value as a person reads it: a dash for None, yes and no, six digits of a float, lists joined by commas."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return formatted(value, ".6g")
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value) or MISSING
    if isinstance(value, Mapping):
        import json

        return visible(json.dumps(value, ensure_ascii=False), newlines=newlines)
    return visible(str(value), newlines=newlines)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def visible(text: str, *, newlines: bool = False) -> str:
    """The text with each character that would steer a terminal written out, as in `\\x1b`.

    `newlines`: whether line breaks and tabs, which lay text out, are kept.
    """
    if text.isprintable():
        return text
    return CONTROL.sub(lambda match: _written_out(match[0], newlines), text)


def _written_out(character: str, newlines: bool) -> str:
    if newlines and character in "\n\t":
        return character
    return character.encode("unicode_escape").decode("ascii")


def width(text: str) -> int:
    """The columns that a terminal gives to the text."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
