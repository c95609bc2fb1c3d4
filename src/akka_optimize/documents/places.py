"""Where in its text each entry of a document stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from akka_optimize.documents.limits import LINE_END

if TYPE_CHECKING:
    from akka_optimize.documents.limits import Text

Keys = tuple[str | int, ...]


class Places(Mapping[Keys, tuple[int, int]]):
    """The way to an entry, `("axes", 0, "path")`, -> its line and column, both from 1.

    A key with its value stands where the key does, an item of a list where the item does, and `()` is the document
    itself. What an alias repeats stands where the alias does. Worked out when the first place is asked for: a document
    without a fault costs nothing more.
    """

    def __init__(self, document: Any, text: Text) -> None:
        self._document = document
        self._text = text

    def __getitem__(self, keys: Keys) -> tuple[int, int]:
        offset = self._offsets[keys]
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def __iter__(self) -> Iterator[Keys]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._text.marks)

    @cached_property
    def _offsets(self) -> dict[Keys, int]:
        return dict(zip(_entries((), self._document), self._text.marks, strict=True))

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(end.end() for end in LINE_END.finditer(self._text.text))]


def _entries(keys: Keys, value: Any) -> Iterator[Keys]:
    """The way to every entry, each before those within it, as the readers mark them."""
    yield keys
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _entries((*keys, key), inner)
