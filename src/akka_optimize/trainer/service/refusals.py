"""Answers that are not a method's: an error in the protocol that the caller speaks, or a line of text.

A gRPC or gRPC-Web client reads an error from headers of a reply with status 200, a Connect client from a JSON body or
the last message of a stream, and everybody else reads a sentence.
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from akka_optimize.protocol import status
from akka_optimize.protocol import trainer_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    Scope = Mapping[str, Any]
    Receive = Callable[[], Awaitable[Any]]
    Send = Callable[[Any], Awaitable[None]]
    Header = tuple[bytes, bytes]

GRPC_NUMBERS = {
    "INVALID_ARGUMENT": 3,
    "NOT_FOUND": 5,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "UNIMPLEMENTED": 12,
    "INTERNAL": 13,
    "UNAUTHENTICATED": 16,
}
GRPC, GRPC_WEB, CONNECT_STREAM = "application/grpc", "application/grpc-web", "application/connect+"
END_OF_STREAM = 2  # the flag of a Connect stream's last message
LEFT_UNREAD = 1 << 20  # bytes of a refused request that are taken in, so that its sender gets to the answer
PATIENCE_SECONDS = 2.0


class Refusal(Exception):
    """A request that no method gets to see: gRPC's name of the code, an HTTP status, a sentence, what to do."""

    def __init__(
        self, code: str, http: int, sentence: str, *, hint: str | None = None, headers: Iterable[Header] = ()
    ) -> None:
        super().__init__(sentence)
        self.code, self.http, self.sentence, self.hint, self.headers = code, http, sentence, hint, tuple(headers)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it to the caller."""
        await taken_in(receive)
        kind = content_type(scope)
        if kind.startswith(GRPC):
            await self._grpc(scope, send)
        elif kind.startswith(CONNECT_STREAM):
            body = json.dumps({"error": self._connect()}, ensure_ascii=False).encode()
            await whole(send, 200, struct.pack(">BI", END_OF_STREAM, len(body)) + body, kind, self.headers)
        elif scope["method"] == "POST":
            body = json.dumps(self._connect(), ensure_ascii=False).encode()
            await whole(send, self.http, body, "application/json", self.headers)
        else:
            await text(send, self.http, "\n".join(filter(None, [self.sentence, self.hint])), self.headers)

    async def _grpc(self, scope: Scope, send: Send) -> None:
        told = [
            (b"grpc-status", str(GRPC_NUMBERS[self.code]).encode()),
            (b"grpc-message", quote(self.sentence, safe=" ,;:'()/").encode()),
            (status.DETAIL_TRAILER.encode(), _base64(self._detail()).encode()),
        ]
        kind = GRPC_WEB if content_type(scope).startswith(GRPC_WEB) else GRPC
        if kind == GRPC_WEB or scope["http_version"] != "2" or header(scope, b"te") != "trailers":
            await whole(send, 200, b"", kind, [*told, *self.headers])
            return
        # A stock gRPC client takes a status from the head only when nothing at all follows it, which ASGI cannot say.
        head = [(b"content-type", kind.encode()), *self.headers]
        await send({"type": "http.response.start", "status": 200, "headers": head, "trailers": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        await send({"type": "http.response.trailers", "headers": told, "more_trailers": False})

    def _connect(self) -> dict[str, Any]:
        told: dict[str, Any] = {"code": self.code.lower(), "message": self.sentence}
        if self.hint:
            detail = {"type": pb.ErrorDetail.DESCRIPTOR.full_name, "value": _base64(self._detail())}
            told["details"] = [detail | {"debug": {"hint": self.hint}}]
        return told

    def _detail(self) -> bytes:
        return pb.ErrorDetail(hint=self.hint or "").SerializeToString()


def content_type(scope: Scope) -> str:
    """The content type of a request in lower case, without parameters; empty where there is none."""
    return header(scope, b"content-type").partition(";")[0].strip().lower()


def header(scope: Scope, name: bytes) -> str:
    """The first header of that name, or nothing."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def text(send: Send, http: int, sentence: str, headers: Iterable[Header] = ()) -> None:
    """Answer with lines for a person."""
    await whole(send, http, f"{sentence}\n".encode(), "text/plain; charset=utf-8", headers)


async def whole(send: Send, http: int, body: bytes, kind: str, headers: Iterable[Header] = ()) -> None:
    """Answer with a whole body; nothing a browser should keep, guess at or show in a frame."""
    fixed = [
        (b"content-type", kind.encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    start = {"type": "http.response.start", "status": http, "headers": [*fixed, *headers], "trailers": False}
    if not kind.startswith(GRPC):
        start["headers"].append((b"content-length", str(len(body)).encode()))  # type: ignore[attr-defined]
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def taken_in(receive: Receive) -> None:
    """Read what the caller is still sending, within reason: who is cut off while writing never reads the answer."""
    left = LEFT_UNREAD
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while left > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")
