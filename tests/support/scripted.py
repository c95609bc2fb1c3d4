"""An HTTP/1.1 server that answers by a script, byte for byte, for what no real server would send."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Answer = bytes | Callable[[socket.socket], None]


@dataclass
class Scripted:
    """Where it listens, and what it was asked: of each request the head's lines and the body."""

    host: str
    requests: list[tuple[list[str], bytes]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def header(self, name: str, number: int = -1) -> str | None:
        """A header of a request, the last one unless numbered."""
        lines = (line.partition(": ") for line in self.requests[number][0][1:])
        return next((value for key, _, value in lines if key.lower() == name), None)


def response(
    body: bytes = b"", *, status: str = "200 OK", kind: str = "application/grpc-web+proto", **more: str
) -> bytes:
    """A whole answer, whose end is its connection's end."""
    headers = {"content-type": kind, "connection": "close"} | {key.replace("_", "-"): v for key, v in more.items()}
    head = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def frame(content: bytes, flags: int = 0) -> bytes:
    """A frame, by gRPC-Web's description."""
    return bytes([flags]) + len(content).to_bytes(4, "big") + content


def trailers(status: int = 0, *lines: str) -> bytes:
    """A last frame with a status and more lines."""
    return frame("".join(f"{line}\r\n" for line in (f"grpc-status: {status}", *lines)).encode(), 0x80)


@contextmanager
def scripted(*answers: Answer) -> Iterator[Scripted]:
    """Answer connection by connection, the last answer for all that follow; bytes, or what is done to the socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Scripted(f"127.0.0.1:{listening.getsockname()[1]}")
        thread = threading.Thread(target=_serve, args=(server, listening, answers))
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(server: Scripted, listening: socket.socket, answers: Sequence[Answer]) -> None:
    for number in range(1 << 30):
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        answer = answers[min(number, len(answers) - 1)]
        with connection, suppress(OSError):
            if (request := _read(connection)) is None:
                continue
            server.requests.append(request)
            if callable(answer):
                answer(connection)
            else:
                connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):  # a close with bytes unread would take back what was sent
                pass


def _read(connection: socket.socket) -> tuple[list[str], bytes] | None:
    held = b""
    while b"\r\n\r\n" not in held:
        part = connection.recv(1 << 16)
        if not part:
            return None
        held += part
    head, _, body = held.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    size = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length")), 0)
    while len(body) < size:
        body += connection.recv(1 << 16)
    return lines, body


@contextmanager
def raw(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Hand each new connection to `serve` as it is, nothing read from it yet; yields host:port."""

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                serve(connection)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
