"""gRPC's reflection service: what can be called here, for clients that bring no generated code.

Both versions that clients ask for have the same messages on the wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.server import Endpoint
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection import ReflectionServicer

from akka_optimize.protocol import SERVICE
from akka_optimize.trainer.service.endpoints import told
from akka_optimize.trainer.service.health import HEALTH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

VERSIONS = ("v1", "v1alpha")
METHOD = "ServerReflectionInfo"


def name(version: str) -> str:
    """The service's full name in one of its versions."""
    return f"grpc.reflection.{version}.ServerReflection"


def endpoints() -> Mapping[str, Any]:
    """ServerReflectionInfo of both versions, by path."""
    servicer: Any = ReflectionServicer([SERVICE, HEALTH, *map(name, VERSIONS)])

    async def answer(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        """An answer to each question, in order."""
        with told(context):
            async for request in requests:
                for reply in servicer.ServerReflectionInfo([request], None):
                    yield reply

    return {
        f"/{name(version)}/{METHOD}": Endpoint.bidi_stream(
            MethodInfo(
                name=METHOD,
                service_name=name(version),
                input=reflection_pb2.ServerReflectionRequest,
                output=reflection_pb2.ServerReflectionResponse,
                idempotency_level=IdempotencyLevel.NO_SIDE_EFFECTS,
                stream_type=StreamType.BIDI_STREAM,
            ),
            answer,
        )
        for version in VERSIONS
    }
