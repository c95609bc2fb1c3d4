"""Documents that somebody else wrote, read field by field: what is missing or of another kind is named, and refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from akka_optimize import errors
from akka_optimize.core import texts
from akka_optimize.record import jsonfile, layout
from akka_optimize.trainer import files

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T", str, int, dict[str, Any], list[Any], bool)

KINDS = {str: "text", int: "a whole number", dict: "an object", list: "a list", bool: "true or false"}
LARGEST = 2**63 - 1  # of a whole number: what a database holds


class Said:
    """An object of a document; `where` names it in messages, as in `run.json` or `run.json: seeds`."""

    def __init__(self, document: dict[str, Any], where: str) -> None:
        self.document, self._where = document, where

    def text(self, key: str, form: str | None = None) -> str:
        """Text that keeps the rules of a form, or any text. Raises Invalid."""
        found = self._kept(key, str)
        if form and (fault := texts.fault(form, found)):
            self._refuse(key, fault)
        return found

    def text_or_none(self, key: str, form: str | None = None) -> str | None:
        """The same, or null; one that is missing counts as null."""
        return None if self.document.get(key) is None else self.text(key, form)

    def whole(self, key: str, least: int = 0) -> int:
        """A whole number of at least so much. Raises Invalid."""
        found = self._kept(key, int)
        if not least <= found <= LARGEST:
            self._refuse(key, f"is {str(found)[:20]}, and must be {least} or more")
        return found

    def whole_or_none(self, key: str, least: int = 0) -> int | None:
        """The same, or null; one that is missing counts as null."""
        return None if self.document.get(key) is None else self.whole(key, least)

    def number(self, key: str) -> float:
        """A finite number. Raises Invalid."""
        found = self.document.get(key)
        if isinstance(found, bool) or not isinstance(found, int | float):
            self._refuse(key, "is no number")
        try:
            return float(found)
        except OverflowError:
            self._refuse(key, "is larger than a float holds")

    def number_or_none(self, key: str) -> float | None:
        """The same, or null; one that is missing counts as null."""
        return None if self.document.get(key) is None else self.number(key)

    def object(self, key: str) -> Said:
        """An object within. Raises Invalid."""
        return Said(self._kept(key, dict), f"{self._where}: {key}")

    def object_or_none(self, key: str) -> Said | None:
        """The same, or null; one that is missing counts as null."""
        return None if self.document.get(key) is None else self.object(key)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts. Raises Invalid."""
        found = self._kept(key, list)
        if not all(isinstance(entry, str) for entry in found):
            self._refuse(key, "is not a list of texts")
        return tuple(found)

    def objects(self, key: str) -> list[dict[str, Any]]:
        """A list of objects. Raises Invalid."""
        found = self._kept(key, list)
        if not all(isinstance(entry, dict) for entry in found):
            self._refuse(key, "is not a list of objects")
        return found

    def one_of(self, key: str, allowed: frozenset[str]) -> str:
        """One of these words. Raises Invalid."""
        found = self._kept(key, str)
        if found not in allowed:
            self._refuse(key, f"is {found[:40]!r}, and must be one of {', '.join(sorted(allowed))}")
        return found

    def flag(self, key: str) -> bool:
        """True or false. Raises Invalid."""
        return self._kept(key, bool)

    def _kept(self, key: str, kind: type[T]) -> T:
        found = self.document.get(key)
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            self._refuse(key, "is missing" if key not in self.document else f"is not {KINDS[kind]}")
        return found

    def _refuse(self, key: str, problem: str) -> NoReturn:
        raise errors.Invalid(f"{self._where}: {key} {problem}", field=key)


def read(path: Path, where: str) -> Said:
    """The object that a JSON file holds, of a format that this version reads; `where` names it.

    Raises Invalid (no such object), Refused (a newer format; the file cannot be read).
    """
    with files.translated(path):
        said = parse(path.read_bytes(), where)
    if (version := said.whole("formatVersion", 1)) > layout.FORMAT_VERSION:
        raise errors.Refused(
            f"{where} has format {version}, and this version reads formats up to {layout.FORMAT_VERSION}",
            field=where,
            hint="upgrade akka-optimize where the trainer runs",
        )
    return said


def parse(content: bytes, where: str) -> Said:
    """The object that JSON text holds. Raises Invalid."""
    try:
        document = jsonfile.parsed(content)
        _check(document)
    except ValueError as error:
        raise errors.Invalid(f"{where} {error}", field=where) from error
    return Said(document, where)


def _check(value: Any) -> None:
    """Raise ValueError for what JSON text can say, and a database or another reader of JSON could not carry on."""
    if isinstance(value, dict):
        for key, entry in value.items():
            _check(key)
            _check(entry)
    elif isinstance(value, list):
        for entry in value:
            _check(entry)
    elif isinstance(value, str) and not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError("holds a lone surrogate, which is no character")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("holds a number that is larger than a float")
