"""HTTP/1.1 for httpx in which one deadline bounds a whole call.

httpx counts the time allowed anew for every read, so that an answer which comes in drops never ends. Here the number
of seconds that goes down to the socket is a `Deadline`, which knows when it was made; the backend at the bottom asks it
for what is left before each step that may wait.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

if TYPE_CHECKING:
    import ssl

CONNECTIONS = 100  # at once; a call that waits for one waits within its deadline
# A dead peer of a stream without a deadline is found out by the system: 30 s of silence, then four questions.
KEEPALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 4))
        if hasattr(socket, name)
    ),
]


class Deadline(float):
    """Seconds, and the moment they began to run; what is made of it as a plain number is the seconds at first."""

    _end: float
    _clock: Callable[[], float]

    def __new__(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """The seconds run from now on."""
        made = super().__new__(cls, seconds)
        made._clock, made._end = clock, clock() + seconds
        return made

    def left(self) -> float:
        """Seconds that remain; zero or less once they are over."""
        return self._end - self._clock()


def left(timeout: float | None, over: type[Exception]) -> float | None:
    """What remains of a timeout, for the next step that may wait; raises `over` when nothing does."""
    if not isinstance(timeout, Deadline):
        return timeout
    remaining = timeout.left()
    if remaining <= 0:
        raise over("the time allowed for the call is over")
    return remaining


class BoundedStream(httpcore.NetworkStream):
    """A connection whose every step ends at the deadline of the call that takes it."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Up to so many bytes; empty when the peer has ended."""
        return self._inner.read(max_bytes, left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """All of the bytes, in pieces, as the peer may take them slowly."""
        for start in range(0, len(buffer), 1 << 16):
            self._inner.write(buffer[start : start + (1 << 16)], left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The same connection under TLS."""
        remaining = left(timeout, httpcore.ConnectTimeout)
        return BoundedStream(self._inner.start_tls(ssl_context, server_hostname, remaining))

    def get_extra_info(self, info: str) -> Any:
        """What the socket knows of itself."""
        return self._inner.get_extra_info(info)


class BoundedBackend(httpcore.NetworkBackend):
    """Opens connections; the addresses of a name share one deadline."""

    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first address of the name that takes one. Raises httpcore.ConnectError."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(error) from error  # with its cause as an argument, as httpcore does
        refused = httpcore.ConnectError(f"{host} has no address")
        for *_, address in found:
            remaining = left(timeout, httpcore.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(str(address[0]), port, remaining, local_address, socket_options)
                return BoundedStream(stream)
            except httpcore.ConnectError as error:
                refused = error
        raise refused


class Body(httpx.SyncByteStream):
    """An answer's bytes as they come."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        """Give the connection back, or close it when the answer was not read to its end."""
        self._stream.close()


class BoundedTransport(httpx.BaseTransport):
    """httpx's way to the network, with the backend above; what fails raises httpcore's errors as they are."""

    def __init__(self, context: ssl.SSLContext | None, proxy: httpx.Proxy | None) -> None:
        common: dict[str, Any] = {
            "ssl_context": context,
            "max_connections": CONNECTIONS,
            "network_backend": BoundedBackend(),
            "socket_options": KEEPALIVE,
        }
        self._pool: httpcore.ConnectionPool = (
            httpcore.ConnectionPool(**common)
            if proxy is None
            else httpcore.HTTPProxy(proxy_url=str(proxy.url), proxy_auth=proxy.raw_auth, **common)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the answer's body is yet to be read."""
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=Body(response.stream),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()
