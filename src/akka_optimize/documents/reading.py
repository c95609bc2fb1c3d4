"""A document from text, from a file or from standard input."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from akka_optimize.documents.limits import MOST_BYTES, Text, check_text
from akka_optimize.documents.places import Places
from akka_optimize.errors import Invalid, WrongUsage

if TYPE_CHECKING:
    from typing import NoReturn

Syntax = Literal["json", "yaml"]

_BY_SUFFIX: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}


def parse(text: str, *, source: str, syntax: Syntax | None = None) -> Any:
    """The value that a document's text stands for.

    Without a `syntax`, the suffix of `source` decides; with neither, text that begins with a bracket is JSON and any
    other is YAML. A byte order mark is passed over. Raises Invalid whose message begins with `source:line:column`.
    """
    return _parsed(Text(text.removeprefix("\ufeff"), source), syntax)


def read(path: str, *, stdin: BinaryIO | None = None, what: str = "document") -> Any:
    """The document in a file, or on standard input when `path` is `-`.

    Raises WrongUsage when it cannot be opened and Invalid when it cannot be read as a document; both name `what`.
    """
    return _parsed(_opened(path, stdin, what))


def read_located(path: str, *, stdin: BinaryIO | None = None, what: str = "document") -> tuple[Any, Places]:
    """As `read`, with the line and column of every entry of the document."""
    text = _opened(path, stdin, what)
    document = _parsed(text)
    return document, Places(document, text)


def _parsed(document: Text, syntax: Syntax | None = None) -> Any:
    check_text(document)
    syntax = syntax or _BY_SUFFIX.get(PurePath(document.source).suffix.lower())
    if syntax is None:
        syntax = "json" if document.text.lstrip().startswith(("{", "[")) else "yaml"
    if syntax == "json":
        from akka_optimize.documents import json_reader

        return json_reader.parse(document)
    from akka_optimize.documents import yaml_reader

    return yaml_reader.parse(document)


def _opened(path: str, stdin: BinaryIO | None, what: str) -> Text:
    source = "standard input" if path == "-" else path
    data = _bytes(path, stdin, what)
    if not data:
        raise Invalid(f"{source}: the {what} is empty")
    if len(data) > MOST_BYTES:
        raise Invalid(f"{source}: the {what} is larger than {MOST_BYTES // 2**20} MiB")
    return Text(_text(data, source).removeprefix("\ufeff"), source)


def _bytes(path: str, stdin: BinaryIO | None, what: str) -> bytes:
    """At most one byte more than is allowed, so that an endless file ends."""
    if path == "-" and stdin is None and sys.stdin is None:
        raise WrongUsage(f"standard input is closed, so that no {what} can be read from it")
    try:
        if path == "-":
            return (stdin or sys.stdin.buffer).read(MOST_BYTES + 1)
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise WrongUsage(f"{path}: no such file", hint=f"Name the file of the {what}, or - for stdin.") from None
    except IsADirectoryError:
        raise WrongUsage(f"{path}: a directory, where the file of the {what} belongs") from None
    except ValueError:
        raise WrongUsage(f"{path!r}: no name of a file") from None
    except OSError as error:
        raise WrongUsage(f"{path}: the {what} cannot be read: {error.strerror}") from None


def _text(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_bytes(data, error.start, source)


def _refuse_bytes(data: bytes, position: int, source: str) -> NoReturn:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Invalid(f"{source}:1:1: UTF-16; save it as UTF-8")
    before = data[:position].decode("utf-8-sig")
    Text(before, source).refuse(len(before), f"the byte 0x{data[position]:02x} is not UTF-8")
