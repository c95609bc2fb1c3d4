"""The servicer's methods as connectrpc endpoints.

A method is a plain function that may block, so it runs in a thread; the event loop only ever waits. A stream is pulled
message by message: the next one is asked for once the last one has been taken over by the connection, so a slow reader
holds up nobody but itself.
"""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.server import Endpoint

from akka_optimize import errors
from akka_optimize.protocol import SERVICE, status
from akka_optimize.protocol import trainer_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from concurrent.futures import Executor

    from connectrpc.request import RequestContext
    from google.protobuf.message import Message

    from akka_optimize.trainer.service.serving import Serving

METHODS = pb.DESCRIPTOR.services_by_name[SERVICE.rpartition(".")[2]].methods
CONNECT_NAMES = {"CANCELLED": "CANCELED"}  # Connect's spelling where it is not gRPC's


class ServiceCall:
    """What a servicer method may ask of a call that came over the network."""

    def __init__(self, context: RequestContext[Any, Any]) -> None:
        self._context, self._active = context, True

    def time_remaining(self) -> float | None:
        """Seconds until the deadline, or None where there is none."""
        milliseconds = self._context.timeout_ms
        return None if milliseconds is None else milliseconds / 1000

    def is_active(self) -> bool:
        """Is the caller still there?"""
        return self._active

    def leave(self) -> None:
        """The caller is gone, or has all that it asked for."""
        self._active = False


def endpoints(serving: Serving, threads: Executor) -> Mapping[str, Any]:
    """One endpoint for each rpc of the service, by its path."""
    return {f"/{SERVICE}/{method.name}": _endpoint(method, serving, threads) for method in METHODS}


def _endpoint(method: Any, serving: Serving, threads: Executor) -> Any:
    info: MethodInfo[Any, Any] = MethodInfo(
        name=method.name,
        service_name=SERVICE,
        input=getattr(pb, method.input_type.name),
        output=getattr(pb, method.output_type.name),
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=StreamType.SERVER_STREAM if method.server_streaming else StreamType.UNARY,
    )
    if method.server_streaming:
        return Endpoint.server_stream(info, _stream(method.name, serving, threads))
    return Endpoint.unary(info, _unary(method.name, serving, threads))


def _unary(name: str, serving: Serving, threads: Executor) -> Callable[..., Any]:
    async def answer(request: Message, context: RequestContext[Any, Any]) -> Message:
        call = ServiceCall(context)
        try:
            function = serving.method(name)
            reply: Message = await asyncio.get_running_loop().run_in_executor(threads, function, request, call)
            return reply
        except errors.AkkaError as error:
            raise wire_error(error, context) from error
        finally:
            call.leave()

    return answer


def _stream(name: str, serving: Serving, threads: Executor) -> Callable[..., AsyncIterator[Any]]:
    async def answer(request: Message, context: RequestContext[Any, Any]) -> AsyncIterator[Message]:
        call, loop = ServiceCall(context), asyncio.get_running_loop()
        try:
            messages = serving.method(name)(request, call)
            while (message := await loop.run_in_executor(threads, next, messages, None)) is not None:
                yield message
        except errors.AkkaError as error:
            raise wire_error(error, context) from error
        finally:
            call.leave()

    return answer


def wire_error(error: errors.AkkaError, context: RequestContext[Any, Any]) -> ConnectError:
    """The error as connectrpc sends it; field and hint go beside it, in a trailer."""
    name, message, detail = status.status_of(error)
    context.response_trailers[status.DETAIL_TRAILER] = base64.b64encode(detail).decode().rstrip("=")
    return ConnectError(Code[CONNECT_NAMES.get(name, name)], message)
