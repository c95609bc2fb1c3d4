"""What a client may find at an address instead of a trainer, on real sockets of this machine."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

Handler = Callable[[socket.socket], None]
Headers = Sequence[tuple[str, str]]

GRPC: Headers = ((":status", "200"), ("content-type", "application/grpc"))
OK: Headers = (("grpc-status", "0"),)
EMPTY = b"\0\0\0\0\0"  # one framed message without a field
SETTINGS = b"\0\0\0\4\0\0\0\0\0"  # the frame that begins HTTP/2
TAKEN = b"\0\0\0\4\1\0\0\0\0"  # the one that answers it


@contextmanager
def peer(handle: Handler, *, context: ssl.SSLContext | None = None, port: int = 0) -> Iterator[str]:
    """Accept connections and hand each, in a thread of its own, to `handle`; yields 127.0.0.1:PORT.

    With a `context` the connection is under TLS; a handshake that fails is the client's business.
    """
    listening = socket.create_server(("127.0.0.1", port))
    connections: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        with suppress(OSError, ssl.SSLError):
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
                connections.append(connection)
            handle(connection)
        connection.close()

    def accept() -> None:
        with suppress(OSError):  # the listening socket is closed
            while True:
                connection, _ = listening.accept()
                connections.append(connection)
                threads.append(threading.Thread(target=serve, args=(connection,)))
                threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        accepting.join()
        listening.close()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()


def unused() -> str:
    """127.0.0.1:PORT where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"127.0.0.1:{listening.getsockname()[1]}"


def drain(connection: socket.socket) -> None:
    """Read until the client leaves."""
    while connection.recv(1 << 16):
        pass


def close(connection: socket.socket) -> None:
    """Say nothing and close."""


def reset(connection: socket.socket) -> None:
    """Say nothing and break the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def says(content: bytes) -> Handler:
    """Send so many bytes once the client has begun to speak, then wait until it leaves."""

    def handle(connection: socket.socket) -> None:
        connection.recv(1 << 16)
        connection.sendall(content)
        drain(connection)

    return handle


def http1(status: str, page: str = "<html><h1>sorry</h1></html>") -> Handler:
    """A web server: one page, in HTTP/1.1."""
    return says(f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(page)}\r\n\r\n{page}".encode())


def http2(
    headers: Headers = GRPC,
    data: bytes | None = None,
    trailers: Headers | None = None,
    *,
    then: str = "",
    before: Sequence[Headers] = (),
    seen: list[dict[str, str]] | None = None,
) -> Handler:
    """A server that answers every request so, on one connection or more.

    `then`: "reset" or "cut" after it, or "refuse" in its place. `before`: heads that are the whole answer to the first
    requests. `seen` collects the requests' heads.
    """
    from h2.config import H2Configuration
    from h2.connection import H2Connection
    from h2.events import RequestReceived, StreamEnded
    from h2.exceptions import ProtocolError

    first = list(before)

    def handle(connection: socket.socket) -> None:
        ours = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        ours.initiate_connection()
        connection.sendall(ours.data_to_send())
        with suppress(ProtocolError):
            while received := connection.recv(1 << 16):
                for event in ours.receive_data(received):
                    if isinstance(event, RequestReceived) and seen is not None:
                        seen.append({str(name): str(value) for name, value in event.headers})
                    if isinstance(event, StreamEnded):
                        assert event.stream_id is not None
                        if then == "refuse":
                            ours.reset_stream(event.stream_id, 7)
                            continue
                        if first:
                            ours.send_headers(event.stream_id, first.pop(0), end_stream=True)
                            continue
                        ours.send_headers(event.stream_id, headers, end_stream=data is None and trailers is None)
                        if data is not None:
                            ours.send_data(event.stream_id, data, end_stream=trailers is None and not then)
                        if trailers is not None:
                            ours.send_headers(event.stream_id, trailers, end_stream=True)
                        if then == "reset":
                            ours.reset_stream(event.stream_id, 2)
                        if then == "cut":
                            connection.sendall(ours.data_to_send())
                            return
                connection.sendall(ours.data_to_send())

    return handle


def failing(number: int, message: str = "", *trailers: tuple[str, str]) -> Handler:
    """A gRPC server that answers with this status."""
    return http2(GRPC, None, (("grpc-status", str(number)), ("grpc-message", message), *trailers))


def replying(*messages: bytes) -> Handler:
    """A gRPC server that answers with these messages, already encoded."""
    return http2(GRPC, b"".join(b"\0" + struct.pack(">I", len(message)) + message for message in messages), OK)


def tls(certificate: object, *, protocols: Sequence[str] = ("h2",)) -> ssl.SSLContext:
    """A server's side of TLS under a certificate of trustme's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)  # type: ignore[attr-defined]
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context
