"""What answers under which path of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from connectrpc.compat import google_protobuf_codecs
from connectrpc.server import ConnectASGIApplication

from akka_optimize.protocol import SERVICE
from akka_optimize.trainer.service.endpoints import endpoints

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from akka_optimize.trainer.service.serving import Serving

MOST_REQUEST_BYTES = 4 << 20


class Rpcs(ConnectASGIApplication[Any]):
    """The rpcs, as an ASGI application."""

    def __init__(self, serving: Serving, threads: Executor) -> None:
        super().__init__(
            service=serving,
            endpoints=lambda service: endpoints(service, threads),
            codecs=google_protobuf_codecs(),
            read_max_bytes=MOST_REQUEST_BYTES,
        )

    @property
    def path(self) -> str:
        """Where the service is mounted."""
        return f"/{SERVICE}"
