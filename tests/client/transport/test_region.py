"""The region goes beside each call, and a transport may be made for a service that is not the trainer's."""

from __future__ import annotations

import threading
from concurrent import futures
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import grpc
import pytest

from akka_optimize import errors
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.client.transport.web import WebTransport
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb

ASKED = [({"region": "eu-1"}, "eu-1", SERVICE), ({"service": "a.b.Health"}, None, "a.b.Health"), ({}, None, SERVICE)]


class Recorder(grpc.GenericRpcHandler):
    """Remembers the path and the headers of a call, and offers no method."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str | None]] = []

    def service(self, details):
        self.seen.append((details.method, dict(details.invocation_metadata).get("x-akka-region")))


@pytest.mark.parametrize(("parts", "region", "service"), ASKED)
def test_over_grpc(parts, region, service):
    """The header is there when a region is, and the path names the service."""
    recorder = Recorder()
    server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[recorder])
    host = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        with closing(GrpcTransport(host, tls=False, address=f"http://{host}", **parts)) as transport:
            with pytest.raises(errors.Unsupported):
                transport.unary("Check", pb.GetInfoRequest(), pb.Info, timeout=5.0)
            with pytest.raises(errors.Unsupported):
                next(transport.stream("Watch", pb.GetInfoRequest(), pb.Info, timeout=5.0))
    finally:
        server.stop(None).wait()
    assert recorder.seen == [(f"/{service}/Check", region), (f"/{service}/Watch", region)]


@pytest.mark.parametrize(("parts", "region", "service"), ASKED)
def test_over_grpc_web(parts, region, service):
    """The same header and the same path."""
    seen: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append((self.path, self.headers.get("x-akka-region")))
            self.send_error(404)

        def log_message(self, *_):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        host = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with (
            closing(WebTransport(host, tls=False, address=f"http://{host}", **parts)) as transport,
            pytest.raises(errors.Unsupported),
        ):
            transport.unary("Check", pb.GetInfoRequest(), pb.Info, timeout=5.0)
        thread.join()
    assert seen == [(f"/{service}/Check", region)]
