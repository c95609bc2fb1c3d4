"""gRPC over HTTP/2. Foreign errors are translated here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol.status import DETAIL_TRAILER, error_of

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from akka_optimize.client.transport import M


@contextmanager
def translated(address: str, hint: str | None) -> Iterator[None]:
    """Turn a grpc.RpcError into the AkkaError that its status stands for."""
    import grpc

    try:
        yield
    except grpc.RpcError as error:
        name = error.code().name
        trailers: Any = error.trailing_metadata() or ()
        if name == "UNAVAILABLE":
            raise errors.Unreachable(f"no trainer answers at {address}", hint=hint) from error
        if name == "DEADLINE_EXCEEDED":
            raise errors.TimedOut(
                f"the trainer at {address} did not answer in time", hint="allow more with --timeout"
            ) from error
        raise error_of(name, error.details() or name, dict(trailers).get(DETAIL_TRAILER)) from error


class GrpcTransport:
    """One channel to one address. `hint` is what the user is told when nobody answers."""

    def __init__(self, host: str, *, tls: bool, address: str, hint: str | None = None) -> None:
        import grpc

        options = [("grpc.enable_http_proxy", 0)] if host.split(":")[0] in {"localhost", "127.0.0.1"} else []
        self._channel = (
            grpc.secure_channel(host, grpc.ssl_channel_credentials(), options=options)
            if tls
            else grpc.insecure_channel(host, options=options)
        )
        self._address, self._hint = address, hint

    def unary(self, method: str, request: Message, reply: type[M], *, timeout: float) -> M:
        """One request, one reply, under grpc's own deadline."""
        call: Any = self._channel.unary_unary(
            f"/{SERVICE}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        with translated(self._address, self._hint):
            answer: M = call(request, timeout=timeout)
            return answer

    def stream(self, method: str, request: Message, reply: type[M], *, timeout: float | None) -> Iterator[M]:
        """One request, many replies, under grpc's own deadline."""
        call: Any = self._channel.unary_stream(
            f"/{SERVICE}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        with translated(self._address, self._hint):
            yield from call(request, timeout=timeout)

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()
