"""How much a request may be: bytes, list entries, time for its body; and how many there may be at once."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from connectrpc.code import Code
from connectrpc.errors import ConnectError

from akka_optimize.trainer.service.compression import too_large
from akka_optimize.trainer.service.refusals import Refusal, header, taken_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from google.protobuf.descriptor import Descriptor
    from google.protobuf.message import Message

    from akka_optimize.trainer.service.options import Limits
    from akka_optimize.trainer.service.refusals import Receive, Scope

BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")  # either alphabet; what is none would be left out without a word
PREFIX = 5  # bytes before a message, in every protocol but plain Connect


class Open:
    """How many calls are in flight, and streams among them."""

    def __init__(self, most: int) -> None:
        self._most, self.calls = most, 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one more until the block ends. Raises Refusal."""
        if self.calls >= self._most:
            raise Refusal(
                "RESOURCE_EXHAUSTED",
                429,
                f"{self._most} calls are in flight, as many as this trainer answers at once",
                hint="try again in a moment",
            )
        self.calls += 1
        try:
            yield
        finally:
            self.calls -= 1


def check_length(scope: Scope, limits: Limits) -> None:
    """Raise Refusal for a request that announces more than it may send."""
    length = header(scope, b"content-length")
    if length.isdigit() and int(length[:20]) > limits.message_bytes + PREFIX:
        raise Refusal("RESOURCE_EXHAUSTED", 413, too_large(limits.message_bytes))


class Body:
    """A request's body as an application receives it; with `talk`, one that goes on for as long as the caller likes.

    Raises ConnectError: too large, or too slow.
    """

    def __init__(self, receive: Receive, limits: Limits, *, talk: bool) -> None:
        self._receive, self._limits = receive, limits
        self._left, self._whole = limits.message_bytes + PREFIX, False
        self._until = None if talk else asyncio.get_running_loop().time() + limits.body_seconds

    async def __call__(self) -> Any:
        """The next part, or word that the caller has left."""
        if self._whole:
            return await self._receive()
        patience = asyncio.timeout_at(self._until)
        try:
            async with patience:
                message = await self._receive()
        except TimeoutError:
            if not patience.expired():
                raise
            raise ConnectError(
                Code.DEADLINE_EXCEEDED, f"the request's body did not arrive within {self._limits.body_seconds:g} s"
            ) from None
        self._left -= len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._left < 0:
            if not self._whole:
                await taken_in(self._receive)
            raise ConnectError(Code.RESOURCE_EXHAUSTED, too_large(self._limits.message_bytes))
        return message


def check_lists(message: Message, most: int, where: str = "") -> None:
    """Raise ConnectError for a list, at any depth of a message, that has too many entries."""
    for field, value in message.ListFields():
        path = f"{where}{field.json_name}"
        if field.is_repeated:
            if len(value) > most:
                raise too_many(path, len(value), most)
            if field.message_type is not None:
                for index, entry in enumerate(value):
                    check_lists(entry, most, f"{path}[{index}].")
        elif field.message_type is not None:
            check_lists(value, most, f"{path}.")


def check_json(value: Any, kind: Descriptor, most: int, where: str = "") -> None:
    """Raise ConnectError for an object with an unknown field, a value of another kind, or too long a list.

    Before anything is built of it: building takes a while for each entry.
    """
    if not isinstance(value, dict):
        raise invalid(f"{where.rstrip('.') or 'the request'} has to be a JSON object")
    names: Mapping[str, Any] = {name: field for field in kind.fields for name in (field.json_name, field.name)}
    for key, entry in value.items():
        field = names.get(key)
        if field is None:
            known = ", ".join(field.json_name for field in kind.fields) or "no fields"
            raise invalid(f"{where}{key[:100]} is no field of {kind.name}, which has {known}")
        if entry is None:
            continue
        if not field.is_repeated:
            _check_entry(entry, field, most, f"{where}{key}")
            continue
        if not isinstance(entry, list):
            raise invalid(f"{where}{key} has to be a list")
        if len(entry) > most:
            raise too_many(f"{where}{key}", len(entry), most)
        for index, part in enumerate(entry):
            _check_entry(part, field, most, f"{where}{key}[{index}]")


def _check_entry(value: Any, field: Any, most: int, where: str) -> None:
    if field.message_type is not None:
        check_json(value, field.message_type, most, f"{where}.")
    elif field.type in (field.TYPE_STRING, field.TYPE_BYTES) and not isinstance(value, str):
        raise invalid(f"{where} has to be a string")
    elif field.type == field.TYPE_BYTES and not BASE64.fullmatch(value):
        raise invalid(f"{where} has to be base64")


def too_many(path: str, entries: int, most: int) -> ConnectError:
    """What a caller is told whose list is too long."""
    return ConnectError(Code.RESOURCE_EXHAUSTED, f"{path} has {entries} entries, and at most {most} are allowed")


def invalid(sentence: str) -> ConnectError:
    """What a caller is told whose message makes no sense."""
    return ConnectError(Code.INVALID_ARGUMENT, sentence)
