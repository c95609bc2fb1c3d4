"""Messages from and to bytes, for connectrpc: protobuf, and JSON for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from akka_optimize import documents, errors
from akka_optimize.trainer.service.compression import too_large
from akka_optimize.trainer.service.limits import check_json, check_lists, invalid

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from akka_optimize.trainer.service.options import Limits

JSON_SOURCE = "request"
_PLACE = re.compile(rf"^{JSON_SOURCE}:(\d+):(\d+): ")
_FIELD, SHOWN = re.compile(r"Failed to parse (\w+) field: "), r"\1: "


class Encoded(bytes):
    """A message as bytes already; a thread made them, so that the event loop need not."""


class Binary:
    """protobuf's binary form."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def name(self) -> str:
        """As content types call it."""
        return "proto"

    def encode(self, message: Message | Encoded) -> bytes:
        """The message's bytes."""
        return message if isinstance(message, Encoded) else message.SerializeToString()

    def decode(self, data: bytes | bytearray, message_class: Any) -> Any:
        """A message of that class. Raises ConnectError."""
        _check_size(data, self._limits)
        try:
            message = message_class.FromString(bytes(data))
        except DecodeError:
            raise invalid(f"the request's bytes are no {message_class.DESCRIPTOR.name}") from None
        check_lists(message, self._limits.list_items)
        return message


class Json:
    """protobuf's JSON form. Unknown fields are refused: a person wrote them, and means something by them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def name(self) -> str:
        """As content types call it."""
        return "json"

    def encode(self, message: Message | Encoded) -> bytes:
        """The message's JSON."""
        return message if isinstance(message, Encoded) else json_format.MessageToJson(message).encode()

    def decode(self, data: bytes | bytearray, message_class: Any) -> Any:
        """A message of that class. Raises ConnectError, with line and column where it is the JSON that is broken."""
        _check_size(data, self._limits)
        try:
            value = documents.parse(bytes(data).decode(), source=JSON_SOURCE, syntax="json")
        except UnicodeDecodeError as error:
            raise invalid(f"the request's JSON is not UTF-8 at byte {error.start + 1}") from None
        except errors.Invalid as error:
            raise invalid(_PLACE.sub(r"the request's JSON, line \1, column \2: ", error.message)) from None
        kind = message_class.DESCRIPTOR
        check_json(value, kind, self._limits.list_items)
        try:
            return json_format.ParseDict(value, message_class())
        except (json_format.ParseError, ValueError, TypeError) as error:
            raise invalid(f"the request is no {kind.name}: {_FIELD.sub(SHOWN, str(error)).rstrip('.')}") from None


def _check_size(data: bytes | bytearray, limits: Limits) -> None:
    if len(data) > limits.message_bytes:
        raise ConnectError(Code.RESOURCE_EXHAUSTED, too_large(limits.message_bytes))
