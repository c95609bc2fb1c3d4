"""A servicer with an answer for each kind of call, and requests to it as people and stock clients write them."""

from __future__ import annotations

import socket
import struct
import threading
from typing import Any

import httpx

from akka_optimize import errors
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb

PATIENCE_SECONDS = 20.0
JSON = {"content-type": "application/json"}
WEB = {"content-type": "application/grpc-web+proto"}
TOKEN = "correct-horse-battery-staple"


class Answering:
    """GetRun answers by the id it is asked for; GetRunLog tells two parts and notes how it ended."""

    def __init__(self) -> None:
        self.entered, self.gate, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.calls: list[Any] = []

    def GetRun(self, request, call):
        """The run, or what is wrong with it."""
        self.calls.append(call)
        if request.run_id == "none":
            raise errors.NotFound("no run 'none'", field="runId", hint="`runs list` shows them")
        if request.run_id == "fault":
            raise KeyError("a secret of the trainer")
        if request.run_id == "slow":
            self.entered.set()
            self.gate.wait(PATIENCE_SECONDS)
        return pb.Run(run_id=request.run_id, name="Ünïcode")

    def GetInfo(self, request, call):
        """Three wait, one trains."""
        return pb.Info(backend="server", queued=3, running=1)

    def ListRuns(self, request, call):
        """As many as were asked for."""
        return pb.ListRunsReply(total=request.limit)

    def SubmitBranches(self, request, call):
        """How many points there were."""
        return pb.Branches(steps=len(request.points))

    def WriteUpload(self, request, call):
        """How large the part was."""
        return pb.WriteUploadReply(size=len(request.data))

    def GetRunLog(self, request, call):
        """Two parts, or endless ones."""
        self.calls.append(call)
        try:
            yield pb.LogChunk(data=b"one")
            if request.run_id == "fault":
                raise KeyError("a secret of the trainer")
            if request.run_id == "none":
                raise errors.NotFound("no run 'none'", field="runId")
            while request.run_id == "endless":
                self.entered.set()
                yield pb.LogChunk(data=bytes(1 << 16))
            yield pb.LogChunk(data=b"two")
        finally:
            self.ended.set()

    def WatchRun(self, request, call):
        """One event."""
        yield pb.RunEvent(run_id=request.run_id, terminal=True)


def post(host: str, method: str, content: Any = b"{}", headers: Any = JSON) -> httpx.Response:
    """One request over HTTP/1.1, on a connection of its own."""
    path = method if method.startswith("/") else f"/{SERVICE}/{method}"
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as client:
        return client.post(f"http://{host}{path}", content=content, headers=headers)


def get(host: str, path: str, headers: Any = None) -> httpx.Response:
    """One GET over HTTP/1.1."""
    with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as client:
        return client.get(f"http://{host}{path}", headers=headers)


def framed(data: bytes, flags: int = 0) -> bytes:
    """A message as gRPC, gRPC-Web and Connect's streams put it in a body."""
    return struct.pack(">BI", flags, len(data)) + data


def raw(host: str, data: bytes) -> bytes:
    """All that the server says to these bytes until it closes the connection."""
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port)), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(data)
        told = b""
        while more := connection.recv(1 << 16):
            told += more
    return told
