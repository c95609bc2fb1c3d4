"""A small TCP proxy whose network fails on purpose, at a byte that the test names."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

Side = Literal["up", "down"]  # to the server, to the client


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a connection once `after` bytes went one way.

    `cut` closes it in both directions; `swallow` goes on reading both sides, and passes nothing on to either, so that
    it looks alive; `stall` reads no more from the side that sends. `times`: how many connections it befalls, the first
    ones; the others are whole.
    """

    kind: Literal["none", "cut", "swallow", "stall"] = "none"
    side: Side = "down"
    after: int = 0
    times: int = 1 << 30


@dataclass
class Proxy:
    """Where it listens, how many connections it took, and how many bytes the first of them carried each way."""

    host: str
    connections: int = 0
    carried: dict[Side, int] = field(default_factory=lambda: {"up": 0, "down": 0})


@contextmanager
def proxy(target: str, fault: Fault | None = None) -> Iterator[Proxy]:
    """Pass everything on to HOST:PORT, but for the fault."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        facts = Proxy(f"127.0.0.1:{listening.getsockname()[1]}")
        accepting = _Accepting(facts, listening, target, fault or Fault())
        accepting.start()
        try:
            yield facts
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection in accepting.made:
                connection.end()


class _Accepting(threading.Thread):
    def __init__(self, facts: Proxy, listening: socket.socket, target: str, fault: Fault) -> None:
        super().__init__()
        self._facts, self._listening, self._fault = facts, listening, fault
        self._target = target.rpartition(":")[0], int(target.rpartition(":")[2])
        self.made: list[_Connection] = []

    def run(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._facts.connections += 1
            number = self._facts.connections
            fault = self._fault if number <= self._fault.times else Fault()
            carried: dict[Side, int] = self._facts.carried if number == 1 else {"up": 0, "down": 0}
            try:
                server = socket.create_connection(self._target)
            except OSError:
                client.close()
                continue
            self.made.append(_Connection(client, server, fault, carried))


class _Connection:
    """One client's connection, and ours to the server in its place."""

    def __init__(self, client: socket.socket, server: socket.socket, fault: Fault, carried: dict[Side, int]) -> None:
        self._sockets, self._fault, self._carried = (client, server), fault, carried
        self._silent, self._ended = threading.Event(), threading.Event()
        ways: tuple[tuple[Side, socket.socket, socket.socket], ...] = (("up", client, server), ("down", server, client))
        self._threads = [threading.Thread(target=self._pump, args=way) for way in ways]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Close both sides and let the threads go."""
        self._cut()
        for thread in self._threads:
            thread.join()
        for end in self._sockets:
            end.close()

    def _cut(self) -> None:
        self._ended.set()
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _pump(self, side: Side, source: socket.socket, sink: socket.socket) -> None:
        faulty = self._fault.kind != "none" and side == self._fault.side
        with suppress(OSError):
            while True:
                room = self._fault.after - self._carried[side] if faulty and not self._silent.is_set() else 1 << 16
                if room == 0 and self._strike():
                    return
                data = source.recv(min(max(room, 1), 1 << 16))
                if not data:
                    break
                if not self._silent.is_set():
                    sink.sendall(data)
                    self._carried[side] += len(data)
        if not self._silent.is_set():
            with suppress(OSError):
                sink.shutdown(socket.SHUT_WR)

    def _strike(self) -> bool:
        """The fault's moment; true when this direction is over."""
        match self._fault.kind:
            case "cut":
                self._cut()
            case "stall":
                self._ended.wait()
            case "swallow":
                self._silent.set()
                return False
        return True
