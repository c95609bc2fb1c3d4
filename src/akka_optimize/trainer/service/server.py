"""One port, from its socket to its graceful stop."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hypercorn.asyncio import serve
from hypercorn.config import Config

from akka_optimize import errors
from akka_optimize.trainer.service.app import Rpcs

if TYPE_CHECKING:
    from akka_optimize.trainer.service.serving import Serving

THREADS = 12
FOREVER = 1 << 62  # requests on one connection


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises Refused when the port is taken or the address is none of this machine's."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=100
        )
    except OSError as error:
        raise errors.Refused(f"{host}:{port}: {error.strerror}", hint="name another port with --port") from error


async def run(serving: Serving, listening: socket.socket, stop: asyncio.Event) -> None:
    """Serve until `stop` is set; then let the calls in flight end."""
    config = Config()
    config.bind = [f"fd://{listening.detach()}"]
    config.keep_alive_max_requests = FOREVER
    config.errorlog = None
    with ThreadPoolExecutor(THREADS, thread_name_prefix="rpc") as threads:
        await serve(Rpcs(serving, threads), config, shutdown_trigger=stop.wait)
