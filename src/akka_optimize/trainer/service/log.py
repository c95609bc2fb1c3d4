"""One line of JSON for each call, and the id that caller and log name it by. Tokens and bodies are never in it."""

from __future__ import annotations

import json
import logging
import re
import secrets
import struct
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from akka_optimize.trainer.service.compression import expanded
from akka_optimize.trainer.service.refusals import CONNECT_STREAM, GRPC, GRPC_WEB, content_type, header

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.trainer.service.refusals import Receive, Scope, Send

REQUEST_ID_HEADER = b"x-request-id"
WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{1,64}")
MOST_CHARACTERS = 200
CODES = [  # by gRPC's numbers
    *("ok", "cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists"),
    *("permission_denied", "resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented"),
    *("internal", "unavailable", "data_loss", "unauthenticated"),
]
TRAILERS_FRAME, END_OF_STREAM, COMPRESSED = 0x80, 0x02, 0x01
GONE = "cancelled"
CALLS = logging.getLogger("akka_optimize.service.calls")
FAULTS = logging.getLogger("akka_optimize.service.faults")
CURRENT: ContextVar[str] = ContextVar("request_id", default="-")


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, message, what the call was, and a traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line: dict[str, Any] = {"time": at, "level": record.levelname.lower()}
        line |= getattr(record, "call", {})
        if message := record.getMessage():
            line["message"] = message
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_to_stderr() -> None:
    """Write the service's log to stderr, as lines of JSON, from now on; a second time changes nothing."""
    log = logging.getLogger("akka_optimize.service")
    if not any(isinstance(handler.formatter, JsonLines) for handler in log.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(JsonLines())
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False


def fault(error: BaseException) -> None:
    """Keep the traceback of what should not have happened."""
    FAULTS.error("a fault in call %s", CURRENT.get(), exc_info=error, extra={"call": {"requestId": CURRENT.get()}})


class Exchange:
    """One request and how it was answered: its id, and the code, read from what was sent."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._scope, self._receive, self._send, self._clock, self._began = scope, receive, send, clock, clock()
        self._taken_in = not (header(scope, b"content-length") or header(scope, b"transfer-encoding"))
        given = header(scope, REQUEST_ID_HEADER)
        self.request_id = given if WELL_FORMED.fullmatch(given) else secrets.token_hex(8)
        self._kind, self._http, self.code = content_type(scope), 0, GONE

    async def receive(self) -> Any:
        """The next part of the request, or word that its sender has left."""
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self._taken_in = True
        return message

    async def send(self, message: Any) -> None:
        """Send a part of the answer, with the request's id among the headers."""
        if message["type"] == "http.response.start":
            ours = [(REQUEST_ID_HEADER, self.request_id.encode())]
            if not self._taken_in and self._scope["http_version"] != "2":
                ours.append((b"connection", b"close"))  # the rest of the request is in the way of another one
            message = {**message, "headers": [*message["headers"], *ours]}
        self._read(message)
        await self._send(message)

    @property
    def seconds(self) -> float:
        """Since the request came."""
        return self._clock() - self._began

    def write(self, method: str) -> None:
        """The call's line in the log."""
        if not CALLS.isEnabledFor(logging.INFO):
            return
        peer = self._scope.get("client")
        call = {
            "requestId": self.request_id,
            "method": method[:MOST_CHARACTERS],
            "code": self.code,
            "ms": round(1000 * self.seconds, 1),
            "peer": f"{peer[0]}:{peer[1]}" if peer else None,
            "userAgent": header(self._scope, b"user-agent")[:MOST_CHARACTERS],
        }
        CALLS.info("", extra={"call": call})

    def _read(self, message: Any) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            self._http = int(message["status"])
            self._grpc(message["headers"])
        elif kind == "http.response.trailers":
            self._grpc(message["headers"])
        elif kind == "http.response.body" and not message.get("more_body", False):
            if self._kind.startswith(CONNECT_STREAM) or self._kind.startswith(GRPC_WEB):
                self._last_frame(message.get("body", b""))
            elif not self._kind.startswith(GRPC):
                self.code = "ok" if self._http < 400 else _told(message.get("body", b"")) or f"http {self._http}"

    def _grpc(self, headers: Any) -> None:
        for name, value in headers:
            if name == b"grpc-status":
                self.code = CODES[int(value)]

    def _last_frame(self, body: bytes) -> None:
        if len(body) < 5 or struct.unpack(">I", body[1:5])[0] != len(body) - 5:
            return
        data = expanded(body[5:], len(body) << 10) if body[0] & COMPRESSED else body[5:]
        if body[0] & TRAILERS_FRAME:
            pairs = [line.partition(b":") for line in data.split(b"\r\n")]
            self._grpc([(name.strip(), value.strip()) for name, _, value in pairs])
        elif body[0] & END_OF_STREAM:
            self.code = _told(data) or "ok"


def _told(body: bytes) -> str | None:
    """The code in a Connect error's JSON."""
    try:
        error = json.loads(body)
    except ValueError:
        return None
    error = error.get("error", error) if isinstance(error, dict) else {}
    code = error.get("code") if isinstance(error, dict) else None
    return {"canceled": GONE}.get(code, code) if isinstance(code, str) else None
