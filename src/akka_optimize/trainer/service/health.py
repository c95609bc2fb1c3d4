"""The standard health service of gRPC: SERVING once the home is open, NOT_SERVING before that and while we stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.server import Endpoint
from grpc_health.v1 import health_pb2

from akka_optimize import errors
from akka_optimize.protocol import SERVICE
from akka_optimize.trainer.service.endpoints import told
from akka_optimize.trainer.service.serving import stopped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from akka_optimize.trainer.service.serving import Serving

HEALTH = "grpc.health.v1.Health"
KNOWN = frozenset({"", SERVICE, HEALTH})  # "" is the whole server
POLL_SECONDS = 0.25
Reply = health_pb2.HealthCheckResponse


def endpoints(serving: Serving) -> Mapping[str, Any]:
    """Check and Watch, by path."""

    def state(service: str) -> int:
        if service not in KNOWN:
            return int(Reply.SERVICE_UNKNOWN)
        return int(Reply.NOT_SERVING if serving.starting or serving.stopping else Reply.SERVING)

    async def check(request: Any, context: Any) -> Any:
        """How it is now."""
        with told(context):
            if request.service not in KNOWN:
                raise errors.NotFound(f"there is no service {request.service[:100]!r} here")
            return Reply(status=state(request.service))

    async def watch(request: Any, context: Any) -> AsyncIterator[Any]:
        """How it is now, and then every change."""
        last = None
        with told(context):
            while True:
                if (now := state(request.service)) != last:
                    yield Reply(status=now)
                    last = now
                if serving.stopping:
                    raise stopped()
                await asyncio.sleep(POLL_SECONDS)

    return {
        f"/{HEALTH}/Check": Endpoint.unary(_info("Check", StreamType.UNARY), check),
        f"/{HEALTH}/Watch": Endpoint.server_stream(_info("Watch", StreamType.SERVER_STREAM), watch),
    }


def _info(name: str, kind: StreamType) -> MethodInfo[Any, Any]:
    return MethodInfo(
        name=name,
        service_name=HEALTH,
        input=health_pb2.HealthCheckRequest,
        output=Reply,
        idempotency_level=IdempotencyLevel.NO_SIDE_EFFECTS,
        stream_type=kind,
    )
