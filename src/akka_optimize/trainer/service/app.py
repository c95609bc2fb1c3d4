"""What answers under which path of the port, and what every request goes through first.

A request gets an id and is counted; then the guard looks at its headers; then an rpc, a page, or a sentence answers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from connectrpc.method import StreamType
from connectrpc.server import ConnectASGIApplication

from akka_optimize import __version__
from akka_optimize.protocol import SERVICE
from akka_optimize.trainer.service import endpoints, health, log, metrics, reflection
from akka_optimize.trainer.service.codecs import Binary, Json
from akka_optimize.trainer.service.compression import Gzip
from akka_optimize.trainer.service.guard import Guard
from akka_optimize.trainer.service.limits import Body, Open, check_length
from akka_optimize.trainer.service.options import Options
from akka_optimize.trainer.service.refusals import CONNECT_STREAM, GRPC, GRPC_WEB, Refusal, content_type, header, whole
from akka_optimize.trainer.service.refusals import text as line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from akka_optimize.trainer.service.options import Limits
    from akka_optimize.trainer.service.refusals import Receive, Scope, Send
    from akka_optimize.trainer.service.serving import Serving

ROOT, METRICS, OTHER = "/", "/metrics", "other"
PUBLIC = (ROOT, f"/{health.HEALTH}/Check", f"/{health.HEALTH}/Watch")  # they tell nothing that a port scan does not
UNARY_TYPES = frozenset({"application/json", "application/proto"})
STREAM_TYPES = frozenset({f"{CONNECT_STREAM}json", f"{CONNECT_STREAM}proto"})
GRPC_TYPES = frozenset({GRPC, f"{GRPC}+proto", f"{GRPC}+json"})
WEB_TYPES = frozenset({GRPC_WEB, f"{GRPC_WEB}+proto", f"{GRPC_WEB}+json"})


class Rpcs(ConnectASGIApplication[Any]):
    """The rpcs, as an ASGI application."""

    def __init__(self, methods: Mapping[str, Any], codecs: Mapping[str, Any], limits: Limits) -> None:
        super().__init__(
            service=None,
            endpoints=lambda _: methods,
            codecs=codecs.values(),
            compressions=[Gzip(limits.message_bytes)],
            read_max_bytes=None,  # `limits` sees to it, and says what the limit is
        )

    @property
    def path(self) -> str:
        """Where the service is mounted."""
        return f"/{SERVICE}"


class Application:
    """Everything behind the port, as one ASGI application."""

    def __init__(self, serving: Serving, threads: Executor, options: Options | None = None) -> None:
        options = options or Options()
        codecs: Mapping[str, Any] = {"proto": Binary(options.limits), "json": Json(options.limits)}
        self._methods = {
            **endpoints.endpoints(serving, threads, codecs),
            **health.endpoints(serving),
            **reflection.endpoints(),
        }
        self._rpcs, self._guard = Rpcs(self._methods, codecs, options.limits), Guard(options)
        self._limits, self._open = options.limits, Open(options.limits.streams)
        self._serving, self._threads, self._metrics = serving, threads, metrics.Metrics()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            await _lifespan(receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange, path = log.Exchange(scope, receive, send), scope["path"]
        log.CURRENT.set(exchange.request_id)
        known = path in self._methods or path in (ROOT, METRICS)
        stream = path in self._methods and not self._is_unary(path)
        self._metrics.begun(stream=stream)
        try:
            with self._open.one():
                await self._guard.check(scope, secret=known and path not in PUBLIC)
                await self._answer(scope, exchange.receive, exchange.send)
        except Refusal as refusal:
            await refusal.answer(scope, exchange.receive, exchange.send)
        finally:
            method = path.strip("/") or "index" if known else OTHER
            self._metrics.ended(method, exchange.code, exchange.seconds, stream=stream)
            exchange.write(path)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, verb = scope["path"], scope["method"]
        if path in self._methods:
            self._check_rpc(scope)
            talk = path.endswith(reflection.METHOD)
            await self._rpcs(scope, Body(receive, self._limits, talk=talk), send)
        elif path.startswith(f"/{SERVICE}/") and verb == "POST":
            name = path.rpartition("/")[2]
            raise Refusal("UNIMPLEMENTED", 404, f"this trainer has no method {name[:100]!r}", hint=OLDER)
        elif path in (ROOT, METRICS) and verb in ("GET", "HEAD"):
            await self._page(path, send)
        elif path in (ROOT, METRICS):
            raise Refusal("UNIMPLEMENTED", 405, f"{path} takes GET", headers=[(b"allow", b"GET, HEAD")])
        else:
            raise Refusal("UNIMPLEMENTED", 404, f"there is nothing at {path[:100]!r}")

    async def _page(self, path: str, send: Send) -> None:
        if path == ROOT:
            await line(send, 200, WELCOME)
            return
        page = await asyncio.get_running_loop().run_in_executor(self._threads, self._metrics.page, self._serving)
        await whole(send, 200, page, metrics.CONTENT_TYPE)

    def _check_rpc(self, scope: Scope) -> None:
        """Raise Refusal for what connectrpc would answer without a word."""
        if scope["method"] != "POST":
            name = scope["path"].rpartition("/")[2]
            raise Refusal("UNIMPLEMENTED", 405, f"{name} wants POST", hint=CURL, headers=[(b"allow", b"POST")])
        kind = content_type(scope)
        if kind in GRPC_TYPES:
            if scope["http_version"] != "2":
                raise Refusal("UNIMPLEMENTED", 505, "gRPC needs HTTP/2", hint="gRPC-Web works over HTTP/1.1")
            if header(scope, b"te") != "trailers":
                raise Refusal("INVALID_ARGUMENT", 400, "the call lacks the header 'te: trailers', which gRPC needs")
        elif kind not in WEB_TYPES and kind not in (
            types := UNARY_TYPES if self._is_unary(scope["path"]) else STREAM_TYPES
        ):
            given = (
                f"the content type {kind[:100]!r} is not" if kind else "the request has no content type; it has to be"
            )
            raise Refusal(
                "INVALID_ARGUMENT",
                415,
                f"{given} one of {', '.join(sorted(types))}, {GRPC}, {GRPC_WEB}",
                headers=[(b"accept-post", ", ".join(sorted(types)).encode())],
            )
        check_length(scope, self._limits)

    def _is_unary(self, path: str) -> bool:
        return bool(self._methods[path].method.stream_type == StreamType.UNARY)


OLDER = f"it is akka-optimize {__version__}, which may be older than the caller"
CURL = "curl -H 'content-type: application/json' -d '{}' sends one"
WELCOME = f"""\
akka-optimize trainer {__version__}
It answers gRPC, gRPC-Web and Connect's JSON: POST /{SERVICE}/METHOD.
Health and reflection are gRPC's own; GET {METRICS} is for Prometheus.
`akka-optimize training info` shows more; TRAINER_URL or --trainer-url name this address."""


async def _lifespan(receive: Receive, send: Send) -> None:
    """Nothing needs starting, and nothing needs ending."""
    while True:
        phase = (await receive())["type"]
        await send({"type": f"{phase}.complete"})
        if phase == "lifespan.shutdown":
            return
