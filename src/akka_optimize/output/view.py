"""What a record looks like from outside: its JSON fields, its text columns, declared once and together.

A field's name is a contract; a heading may change. A column that names no field fails when the view is made, so the
two cannot drift apart.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from akka_optimize.records import Page

Document = dict[str, Any]
Source = str | Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Field:
    """One name of the JSON document, and what it means in a few words."""

    name: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, or one row of a block: a heading, and a field's dotted path or a function of the record.

    The function may return anything that `text.cell` shows; None is shown as a missing value.
    """

    heading: str
    source: Source


@dataclass(frozen=True, slots=True)
class View:
    """How one kind of record is shown.

    plural     the one key of a list document (`{"runs": […]}`); without it the view shows single records only
    columns    of the table for a list; rows of the block for one record too, unless `block` says otherwise
    to_json    record -> the document, with exactly the names in `fields`; by default the dataclass's own, camelCased
    to_text    record -> the whole text of a single record, in place of the block
    renderers  further values of `-o`, such as `csv`: record -> text
    Raises ValueError when a column names no field, or a name stands twice.
    """

    name: str
    fields: tuple[Field, ...]
    columns: tuple[Column, ...] = ()
    plural: str | None = None
    to_json: Callable[[Any], Document] | None = None
    to_text: Callable[[Any], str] | None = None
    block: tuple[Column, ...] = ()
    renderers: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"view {self.name}: a field stands twice")
        for column in (*self.columns, *self.block):
            if isinstance(column.source, str) and column.source.partition(".")[0] not in self.names:
                raise ValueError(f"view {self.name}: column {column.heading} names no field: {column.source}")

    @property
    def names(self) -> tuple[str, ...]:
        """The JSON names, in order."""
        return tuple(f.name for f in self.fields)

    def document(self, record: object) -> Document:
        """The JSON document of one record: plain dicts, lists, text, numbers that are finite, booleans, None."""
        return self.to_json(record) if self.to_json else plain(record)


def items(record: object) -> tuple[Any, ...] | None:
    """The records of a list (a Page, a tuple or a list); None for a single record."""
    page = as_page(record)
    if page is not None:
        return page.items
    return tuple(record) if isinstance(record, tuple | list) else None


def document(view: View, record: object, names: tuple[str, ...] = ()) -> Document:
    """The whole JSON document of a record or a list, each item limited to `names` (empty: all), in their order."""
    listed = items(record)
    if listed is None:
        return _limited(view.document(record), names)
    if view.plural is None:
        raise TypeError(f"view {view.name} shows no lists")
    result: Document = {view.plural: [_limited(view.document(item), names) for item in listed]}
    page = as_page(record)
    if page is not None:
        result |= {"offset": page.offset, "total": page.total}
    return result


def as_page(record: object) -> Page | None:
    """The record, if it is one page of a list."""
    # Imported when something is shown, and not for help: making these classes takes half as long as all of Click.
    from akka_optimize.records import Page

    return record if isinstance(record, Page) else None


def _limited(whole: Document, names: tuple[str, ...]) -> Document:
    return {name: whole.get(name) for name in names} if names else whole


def plain(value: Any) -> Any:
    """A frozen dataclass, and whatever it holds, as JSON knows it.

    Attribute names become camelCase (keys of dicts are left alone), tuples lists, and a number that is not finite
    null.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, attribute)) for attribute, name in _names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # an array, or one number out of an array
        return plain(value.tolist())
    raise TypeError(f"{type(value).__name__} has no JSON form")


@cache
def _names(kind: type) -> tuple[tuple[str, str], ...]:
    return tuple((f.name, camel(f.name)) for f in dataclasses.fields(kind))


def camel(name: str) -> str:
    """`observed_step` -> `observedStep`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
