"""The standard health check, grpc.health.v1, of a service that we know nothing else of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize import errors

if TYPE_CHECKING:
    from akka_optimize.client.transport import Transport

SERVICE = "grpc.health.v1.Health"
STATES = ("unknown", "serving", "not serving", "service unknown")  # HealthCheckResponse.ServingStatus


class Health:
    """One service's health check, over one transport that was made for `SERVICE`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def check(self, *, timeout: float) -> str:
        """How the whole server says it is, in a word or two. Raises what the transport raises."""
        # As messages that have the same bytes: a request without a name, and a reply whose field 1 is a small number.
        from google.protobuf.empty_pb2 import Empty
        from google.protobuf.wrappers_pb2 import Int32Value

        try:
            number = self._transport.unary("Check", Empty(), Int32Value, timeout=timeout).value
        except errors.Unsupported:
            return "it tells nothing of its health"
        except errors.AkkaError as error:  # in words that know only of trainers
            error.message = error.message.replace("no trainer", "nothing").replace("the trainer", "the service")
            raise
        return STATES[number] if 0 <= number < len(STATES) else f"state {number}"

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()
