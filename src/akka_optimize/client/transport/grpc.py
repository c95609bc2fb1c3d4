"""gRPC over HTTP/2. What grpc raises is translated here, by `reasons`, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from akka_optimize import __version__
from akka_optimize.client.transport import told
from akka_optimize.client.transport.calls import Observe, trying
from akka_optimize.client.transport.proxies import proxy_for, without_credentials
from akka_optimize.client.transport.reasons import Asked, reason
from akka_optimize.protocol import SERVICE

if TYPE_CHECKING:
    from pathlib import Path

    import grpc
    from google.protobuf.message import Message

    from akka_optimize.client.transport import M

# A connection on which nothing comes back is given up 9 s after the last sign of life: within the time that a call has,
# and within a stream that has no end. The answer may take long, as a trainer on a busy machine may.
PING_AFTER, PING_ANSWER = 3_000, 6_000  # milliseconds
OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.primary_user_agent", f"akka-optimize/{__version__}"),
    ("grpc.max_receive_message_length", told.MOST_REPLY_BYTES),
    # An error travels in the head of an answer, and one that lists every faulty point of a grid is long.
    ("grpc.max_metadata_size", 1 << 20),
    ("grpc.absolute_max_metadata_size", 1 << 20),
    # Curves are megabytes, and a command is over before the window has grown to fit them.
    ("grpc.http2.lookahead_bytes", 4 << 20),
    ("grpc.http2.max_frame_size", 1 << 20),
    ("grpc.keepalive_time_ms", PING_AFTER),
    ("grpc.keepalive_timeout_ms", PING_ANSWER),  # for what the system has not sent
    ("grpc.http2.ping_timeout_ms", PING_ANSWER),  # for what has arrived, and is not answered
    ("grpc.http2.max_pings_without_data", 0),  # any number
    ("grpc.enable_retries", 0),  # what may be repeated is known in one place, RetryingTransport
    # grpc looks for a lost trainer by itself, at these intervals or a fifth longer ones; a try in between would fail
    # without being one.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 100),
)


class GrpcTransport:
    """One channel to one address, HOST:PORT. `hint` is what the user is told when nobody answers; `ca` a file of
    authorities to trust instead of the system's; `region` goes beside each call; `service` is whose methods they are;
    `observe` hears of every call.

    Raises Unauthenticated (a token that would go over an open network), WrongUsage (a proxy of no use, a bad `ca`).
    """

    def __init__(
        self,
        host: str,
        *,
        tls: bool,
        address: str,
        hint: str | None = None,
        token: str | None = None,
        ca: Path | None = None,
        region: str | None = None,
        service: str = SERVICE,
        observe: Observe | None = None,
    ) -> None:
        if token:
            told.require_safe_token(token, host, tls=tls, address=address)
        proxy = proxy_for(host, tls=tls, also="grpc")
        if proxy is not None:
            hint = f"it was asked through the proxy at {without_credentials(proxy)}; NO_PROXY exempts it"
        self._channel = _channel(host, tls=tls, ca=ca, proxy=proxy)
        self._metadata = [("authorization", f"Bearer {token}")] if token else []
        self._metadata += [("x-akka-region", region)] if region else []
        self._path = f"/{service}/"
        self._address, self._tls, self._hint, self._observe = address, tls, hint, observe

    def unary(self, method: str, request: Message, reply: type[M], *, timeout: float) -> M:
        """One request, one reply, under grpc's own deadline."""
        call: Any = self._channel.unary_unary(f"{self._path}{method}", None, None)
        content = request.SerializeToString()
        with self._trying(method, len(content)) as metadata:
            return self._decoded(reply, call(content, timeout=timeout, metadata=metadata))

    def stream(self, method: str, request: Message, reply: type[M], *, timeout: float | None) -> Iterator[M]:
        """One request, many replies, under grpc's own deadline."""
        call: Any = self._channel.unary_stream(f"{self._path}{method}", None, None)
        content = request.SerializeToString()
        with self._trying(method, len(content)) as metadata:
            messages = call(content, timeout=timeout, metadata=metadata)
            try:
                for message in messages:
                    yield self._decoded(reply, message)
            finally:
                messages.cancel()  # when the reader has seen enough; otherwise it has ended, and this does nothing

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    @contextmanager
    def _trying(self, method: str, size: int) -> Iterator[list[tuple[str, str]]]:
        """One try: yields what goes beside the request, and turns a grpc.RpcError into the error that it stands for."""
        import grpc

        with trying(method, self._observe) as request_id:
            try:
                yield [*self._metadata, ("x-request-id", request_id)]
            except grpc.RpcError as error:
                raise reason(error, Asked(method, size, self._address, self._tls, self._hint)) from error

    def _decoded(self, reply: type[M], content: bytes | None) -> M:
        """The message in `content`. grpc would log what it cannot decode, and a stream of it would never end."""
        from google.protobuf.message import DecodeError

        try:
            if content is not None:  # as it is where the answer was not even framed
                message: M = reply.FromString(content)
                return message
        except DecodeError:
            pass
        raise told.garbled(self._address, f"it is no {reply.__name__}")


def _channel(host: str, *, tls: bool, ca: Path | None, proxy: str | None) -> grpc.Channel:
    # Read once, when grpc starts: its own words for a broken connection would stand between ours.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc

    options = [*OPTIONS, ("grpc.enable_http_proxy", int(proxy is not None))]
    if proxy is not None:
        options.append(("grpc.http_proxy", proxy))
    target = f"dns:///{host}"  # a host may bear the name of one of grpc's schemes, such as unix
    if not tls:
        return grpc.insecure_channel(target, options)
    from akka_optimize.client.transport.certificates import trusted

    return grpc.secure_channel(target, grpc.ssl_channel_credentials(trusted(ca)), options)
