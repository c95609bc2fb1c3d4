"""The servicer's methods as connectrpc endpoints.

A method is a plain function that may block, so it runs in a thread, and its reply is turned into bytes there; the
event loop only ever waits. A stream is pulled message by message: the next one is asked for once the last one has been
taken over by the connection, so a slow reader holds up nobody but itself.

connectrpc ends a call where its deadline passes or its caller leaves: the call is inactive from then on, and a stream
is closed.
"""

from __future__ import annotations

import asyncio
import base64
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any

from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.server import Endpoint
from protobuf.wkt import Any as AnyMessage
from protobuf.wkt import Struct

from akka_optimize import errors
from akka_optimize.protocol import SERVICE, status
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import log, streams
from akka_optimize.trainer.service.codecs import Encoded
from akka_optimize.trainer.service.following import Following

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
    from concurrent.futures import Executor

    from connectrpc.request import RequestContext
    from google.protobuf.message import Message

    from akka_optimize.trainer.service.serving import Serving

    Codecs = Mapping[str, Any]  # by name
    Context = RequestContext[Any, Any]

METHODS = pb.DESCRIPTOR.services_by_name[SERVICE.rpartition(".")[2]].methods
CONNECT_NAMES = {"CANCELLED": "CANCELED"}  # Connect's spelling where it is not gRPC's
ENDLESS = "WatchRun"
READING = ("Get", "List", "Validate", "Watch", "Verify", "Export")
REPEATABLE = frozenset({
    "WriteUpload", "CreateDataset", "NameDataset", "StartRun", "SubmitBranches", "CancelSubmission", "PinSnapshot",
    "RepeatRun", "ImportRuns"
})  # fmt: skip


class ServiceCall:
    """What a servicer method may ask of a call that came over the network."""

    def __init__(self, context: Context) -> None:
        self._context, self._active = context, True

    def time_remaining(self) -> float | None:
        """Seconds until the deadline, or None where there is none."""
        milliseconds = self._context.timeout_ms
        return None if milliseconds is None else milliseconds / 1000

    def is_active(self) -> bool:
        """Is the caller still there, with time left?"""
        return self._active

    def leave(self) -> None:
        """The caller is gone, or has all that it asked for."""
        self._active = False


def endpoints(serving: Serving, threads: Executor, codecs: Codecs) -> Mapping[str, Any]:
    """One endpoint for each rpc of the service, by its path."""
    return {f"/{SERVICE}/{method.name}": _endpoint(method, serving, threads, codecs) for method in METHODS}


def _endpoint(method: Any, serving: Serving, threads: Executor, codecs: Codecs) -> Any:
    info: MethodInfo[Any, Any] = MethodInfo(
        name=method.name,
        service_name=SERVICE,
        input=getattr(pb, method.input_type.name),
        output=getattr(pb, method.output_type.name),
        idempotency_level=idempotency(method.name),
        stream_type=StreamType.SERVER_STREAM if method.server_streaming else StreamType.UNARY,
    )
    if method.server_streaming:
        return Endpoint.server_stream(info, _stream(method.name, serving, threads, codecs))
    return Endpoint.unary(info, _unary(method.name, serving, threads, codecs))


def idempotency(name: str) -> IdempotencyLevel:
    """What a second call of the method does: nothing at all, the same as the first alone, or something more."""
    if name.startswith(READING):
        return IdempotencyLevel.NO_SIDE_EFFECTS
    return IdempotencyLevel.IDEMPOTENT if name in REPEATABLE else IdempotencyLevel.UNKNOWN


def _unary(name: str, serving: Serving, threads: Executor, codecs: Codecs) -> Callable[..., Any]:
    async def answer(request: Message, context: Context) -> Any:
        call, encode = ServiceCall(context), _codec(context, codecs).encode

        def work(method: Any) -> Encoded:
            return Encoded(encode(method(request, call)))

        try:
            with told(context):
                return await asyncio.get_running_loop().run_in_executor(threads, work, serving.method(name))
        finally:
            call.leave()

    return answer


def _stream(name: str, serving: Serving, threads: Executor, codecs: Codecs) -> Callable[..., AsyncIterator[Any]]:
    following = Following(serving) if name == ENDLESS else None

    async def answer(request: Message, context: Context) -> AsyncIterator[Any]:
        call = ServiceCall(context)
        context.response_headers["x-accel-buffering"] = "no"  # nginx would hold back a stream until it ends
        try:
            with told(context):
                if following is not None:
                    messages = following.follow(request)
                else:
                    made = _encoded(serving.method(name)(request, call), _codec(context, codecs))
                    messages = streams.pulled(made, threads)
                async with aclosing(messages) as stream:
                    async for message in stream:
                        yield message
        finally:
            call.leave()

    return answer


def _encoded(messages: Iterable[Message], codec: Any) -> Generator[Encoded, None, None]:
    """The messages as bytes, made by whoever asks for the next one."""
    try:
        for message in messages:
            yield Encoded(codec.encode(message))
    finally:
        getattr(messages, "close", bool)()  # an iterator that is none of ours need not have one


def _codec(context: Context, codecs: Codecs) -> Any:
    kind = context.request_headers.get("content-type", "").partition(";")[0].strip().lower()
    return codecs["json" if kind.endswith("json") else "proto"]


@contextmanager
def told(context: Context) -> Iterator[None]:
    """Turn what is raised in the block into what connectrpc sends; the log has the traceback of a fault of ours."""
    fault = _Fault()
    try:
        with fault:
            yield
    except errors.AkkaError as error:
        raise wire_error(error, context) from error


class _Fault:
    """Turns what nobody foresaw into an Internal error, and keeps its traceback."""

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        expected = (errors.AkkaError, ConnectError)
        if isinstance(error, Exception) and not isinstance(error, expected):
            log.fault(error)
            raise errors.Internal(
                f"the trainer met a fault of its own in call {log.CURRENT.get()}",
                hint="the trainer's log says more under that id",
            ) from error


class _Detail(ErrorDetail):
    """An ErrorDetail of ours, which Connect's clients see as readable JSON as well."""

    def __init__(self, data: bytes, readable: dict[str, str]) -> None:
        super().__init__(AnyMessage(type_url=f"type.googleapis.com/{pb.ErrorDetail.DESCRIPTOR.full_name}", value=data))
        self._readable = Struct.from_python(readable)

    def value(self, _wanted: Any = None) -> Any:
        """What it says."""
        return self._readable


def wire_error(error: errors.AkkaError, context: Context) -> ConnectError:
    """The error as connectrpc sends it; field and hint go beside it, in a trailer and among its details."""
    name, message, detail = status.status_of(error)
    context.response_trailers[status.DETAIL_TRAILER] = base64.b64encode(detail).decode().rstrip("=")
    readable = {key: text for key, text in (("field", error.field), ("hint", error.hint)) if text}
    return ConnectError(
        Code[CONNECT_NAMES.get(name, name)], message, details=[_Detail(detail, readable)] if readable else ()
    )
