"""Every way from a client to a servicer, as a table that suites run over."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from support.nginx import HTTP1, nginx
from support.service import served

from akka_optimize.client.transport import Transport
from akka_optimize.client.transport.embedded import EmbeddedTransport
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.client.transport.web import WebTransport

Opened = AbstractContextManager[Transport]


@contextmanager
def embedded(servicer: Any) -> Iterator[Transport]:
    """The servicer called in this process."""
    yield EmbeddedTransport(servicer)


@contextmanager
def over_grpc(servicer: Any) -> Iterator[Transport]:
    """gRPC over HTTP/2."""
    with served(servicer) as host, to_grpc(host) as transport:
        yield transport


@contextmanager
def over_web(servicer: Any) -> Iterator[Transport]:
    """gRPC-Web over HTTP/1.1."""
    with served(servicer) as host, to_web(host) as transport:
        yield transport


@contextmanager
def over_nginx(servicer: Any) -> Iterator[Transport]:
    """gRPC-Web through a real proxy that speaks HTTP/1.1."""
    with tempfile.TemporaryDirectory() as folder, served(servicer) as host:  # noqa: SIM117
        with nginx(Path(folder), HTTP1.format(host=host)) as proxy, to_web(proxy) as transport:
            yield transport


def to_grpc(host: str, **options: Any) -> Opened:
    """A client that speaks gRPC to a port of this machine."""
    return closing(GrpcTransport(host, tls=False, address=f"http://{host}", **options))


def to_web(host: str, **options: Any) -> Opened:
    """A client that speaks gRPC-Web to a port of this machine."""
    return closing(WebTransport(host, tls=False, address=f"http://{host}", **options))


TRANSPORTS: dict[str, Callable[[Any], Opened]] = {
    "embedded": embedded,
    "grpc": over_grpc,
    "web": over_web,
    "web through nginx": over_nginx,
}
CLIENTS: dict[str, Callable[..., Opened]] = {"grpc": to_grpc, "web": to_web}
