"""Chat rows: what is accepted, what identifies them, and where they are kept.

A row is one JSON object a line with `messages`, a conversation whose last message is the assistant's. The hash of a
dataset is the sha256 of its rows in canonical form (sorted keys, no spaces, UTF-8, a newline after each), in order,
and the stored file is exactly those bytes.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from akka_optimize import errors
from akka_optimize.trainer import files, uploads
from akka_optimize.trainer.names import check_name

if TYPE_CHECKING:
    from akka_optimize.records import Dataset, Document
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

FORMAT_VERSION = 1
ROLES = ("system", "user", "assistant", "tool")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UNSUPPORTED = {
    "tools": "tool calls",
    "functions": "tool calls",
    "tool_calls": "tool calls",
    "tool_call_id": "tool calls",
    "function_call": "tool calls",
    "images": "images",
    "weight": "weights of single messages",
    "chosen": "preference pairs",
    "rejected": "preference pairs",
    "input_ids": "prepared tokens",
}


@dataclass(frozen=True, slots=True)
class Stored:
    """What a file of rows turned out to be."""

    hash: str
    example_count: int
    size_bytes: int
    findings: tuple[str, ...]


@dataclass(slots=True)
class Notices:
    """What was noticed on the way through a file, and accepted."""

    blank: int = 0
    marked: bool = False
    repeated: int = 0
    unread: dict[str, int] = field(default_factory=dict)

    def findings(self) -> tuple[str, ...]:
        """The notices as sentences."""
        found = []
        if self.marked:
            found.append("a byte order mark at the start was left out")
        if self.blank:
            found.append(f"{_count(self.blank, 'blank line was', 'blank lines were')} left out")
        if self.repeated:
            found.append(f"{_count(self.repeated, 'row repeats', 'rows repeat')} an earlier one")
        for key, rows in sorted(self.unread.items()):
            found.append(f"{_count(rows, 'row has', 'rows have')} a field that training does not read: {key}")
        return tuple(found)


def parse(lines: Iterable[bytes], notices: Notices) -> Iterator[tuple[Document, bytes]]:
    """The rows of a file, given as its lines, one after the other, each with its canonical bytes.

    Raises Invalid, naming the line and what is wrong with it.
    """
    rows = 0
    for number, line in enumerate(lines, 1):
        text = line.rstrip(b"\r\n")  # or a parser would count the place of a fault from the next line
        if number == 1 and line.startswith(BYTE_ORDER_MARK):
            notices.marked = True
            text = text[len(BYTE_ORDER_MARK) :]
        if not text.strip():
            notices.blank += 1
            continue
        try:
            row = _row(text)
            data = _encoded(row)
        except _Fault as fault:
            raise errors.Invalid(f"line {number}: {fault}", hint=fault.hint) from fault.__cause__
        for key in row.keys() - {"messages"}:
            notices.unread[key] = notices.unread.get(key, 0) + 1
        rows += 1
        yield row, data
    if not rows:
        raise errors.Invalid("the dataset holds no row", hint="write one JSON object a line, each with `messages`")


def canonical(row: Document) -> bytes:
    """A row's bytes, whatever its spacing and the order of its keys were."""
    return _ENCODER.encode(row).encode() + b"\n"


def store(home: Home, path: Path) -> Stored:
    """Check the rows of the file at `path` and keep them in the home, whole or not at all.

    Raises Invalid (a row, with its line), Exhausted (limit, disk).
    """
    notices = Notices()
    digest = hashlib.sha256()
    seen: set[bytes] = set()
    count = size = 0
    beside = home.uploads / f"{secrets.token_hex(16)}.rows"
    with files.translated(path):
        uploads.check_size(path.stat().st_size)
        try:
            with path.open("rb") as lines, beside.open("xb") as out:
                for _, data in parse(lines, notices):
                    count += 1
                    digest.update(data)
                    size += out.write(data)
                    seen.add(hashlib.blake2b(data, digest_size=16).digest())
            notices.repeated = count - len(seen)
            beside.chmod(0o400)
            files.install(beside, _path(home, digest.hexdigest()))
        finally:
            beside.unlink(missing_ok=True)
    return Stored(digest.hexdigest(), count, size, notices.findings())


def create(home: Home, catalog: Catalog, upload: uploads.Upload, *, name: str | None = None) -> Dataset:
    """Register what has arrived as `upload`; asked again, within a day, the dataset that it became.

    Raises what `register` and `uploads.finished` raise, and Conflict (it became one under another name).
    """
    try:
        if (there := catalog.registered(upload, name=name)) is None:
            with uploads.finished(home, upload) as path:
                return register(home, catalog, path, name=name, upload=upload)
    except errors.NotFound:  # the same request, a moment ago, may have taken it
        if (there := catalog.registered(upload, name=name)) is None:
            raise
    uploads.drop(home, upload)  # where the process died before it did
    return there


def register(
    home: Home, catalog: Catalog, path: Path, *, name: str | None = None, upload: uploads.Upload | None = None
) -> Dataset:
    """Keep the rows of the file at `path` and list them in the catalog; rows that are there already are only named.

    `upload`: what the file arrived as. Raises Invalid (name, or a row with its line), Exhausted (limit, disk), Conflict
    (upload).
    """
    if name is not None:
        check_name(name, "dataset")
    kept = store(home, path)
    return catalog.add_dataset(
        kept.hash,
        example_count=kept.example_count,
        size_bytes=kept.size_bytes,
        findings=kept.findings,
        name=name,
        upload=upload,
    )


def rows(home: Home, hash: str) -> list[Document]:
    """The rows of a stored dataset, in order. Raises NotFound."""
    path = place(home, hash)
    with files.translated(path), path.open("rb") as lines:
        return [json.loads(line) for line in lines]


def place(home: Home, hash: str) -> Path:
    """The file of a stored dataset's rows. Raises NotFound where it is gone."""
    path = _path(home, hash)
    if not path.is_file():
        raise errors.NotFound(
            f"the rows of dataset {hash[:12]} are not at {path}",
            hint="put the file back, or create the dataset from the same rows again",
        )
    return path


class _Fault(Exception):
    """What is wrong with one row."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


def _row(line: bytes) -> Document:
    """One line as a checked row. Raises _Fault."""
    try:
        row = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        raise _Fault(f"not UTF-8 (byte {error.start + 1})") from error
    except json.JSONDecodeError as error:
        raise _Fault(f"not JSON: {error.msg} at column {error.colno}", "write one JSON object a line") from error
    except RecursionError as error:
        raise _Fault("nested too deeply") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise _Fault(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise _Fault(f"not an object but {_kind(row)}", "write one JSON object a line, each with `messages`")
    for key in sorted(row.keys() & UNSUPPORTED.keys()):
        raise _Fault(f"`{key}`: this trainer does not train on {UNSUPPORTED[key]}")
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _Fault("no `messages`, which is a list of objects with `role` and `content`")
    for index, message in enumerate(messages):
        _check_message(f"messages[{index}]", message)
    if messages[-1]["role"] != "assistant":
        raise _Fault(f"the last message is from {messages[-1]['role']!r}, and must be from 'assistant'")
    return row


def _encoded(row: Document) -> bytes:
    """The canonical bytes of a row. Raises _Fault."""
    try:
        return canonical(row)
    except UnicodeEncodeError as error:
        raise _Fault("a lone surrogate, which is no character") from error
    except RecursionError as error:
        raise _Fault("nested too deeply") from error
    except ValueError as error:
        raise _Fault("a number beyond what a float holds") from error


def _check_message(where: str, message: Any) -> None:
    if not isinstance(message, dict):
        raise _Fault(f"{where} is {_kind(message)}, and must be an object with `role` and `content`")
    for key in message:
        if key in UNSUPPORTED:
            raise _Fault(f"{where}.{key}: this trainer does not train on {UNSUPPORTED[key]}")
        if key not in ("role", "content"):
            raise _Fault(f"{where} has an unknown field `{key}`")
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        raise _Fault(f"{where}.role is {_shown(role)}, and must be one of {', '.join(ROLES)}")
    if isinstance(content, list):
        raise _Fault(f"{where}.content is a list of parts: this trainer trains on text only")
    if not isinstance(content, str) or not content:
        raise _Fault(f"{where}.content is {_kind(content)}, and must be text")
    if "\0" in content:
        raise _Fault(f"{where}.content holds a NUL character")


def _object(pairs: list[tuple[str, Any]]) -> Document:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _Fault(f"the key {_shown(next(key for key in keys if keys.count(key) > 1))} is there twice")
    return found


def _constant(name: str) -> NoReturn:
    raise _Fault(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null or missing"
    if value == "":
        return "empty"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names[type(value)]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _path(home: Home, hash: str) -> Path:
    return home.datasets / f"{hash}.jsonl"
