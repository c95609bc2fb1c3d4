"""One port, from its socket to its graceful stop."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hypercorn.asyncio import serve
from hypercorn.config import Config

from akka_optimize import errors
from akka_optimize.trainer.service import connections
from akka_optimize.trainer.service.app import Application
from akka_optimize.trainer.service.options import Options

if TYPE_CHECKING:
    from akka_optimize.trainer.service.serving import Serving

THREADS = 12  # each has at most one of the catalog's connections (CONNECTIONS in trainer/catalog/database.py)
FOREVER = 1 << 62  # requests on one connection
BACKLOG = 1024
IDLE_SECONDS = 75.0  # a connection without a call; longer than the pauses of a command that polls, or of most proxies
FLUSH_SECONDS = 2.0  # for replies on their way once no method is at work any more
STOP_POLL_SECONDS = 0.02
PRIVILEGED = 1024
HEADROOM = 4  # times the limit of headers, so that what is a little larger is told so
LOG = logging.getLogger("akka_optimize.service")


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at a name or an address; port 0 is any free one.

    Raises Refused: the port is taken, or not ours to have; the address is none of this machine's, or no name at all.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise errors.Refused(
            f"{host} is no address of this machine, and no name that it knows", hint="name another with --host"
        ) from error
    family, *_, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)  # clients try that one first
    try:
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except PermissionError as error:
        hint = f"name one from {PRIVILEGED} on with --port" if 0 < port < PRIVILEGED else None
        raise errors.Refused(f"this user may not listen on port {port} of {host}", hint=hint) from error
    except OSError as error:
        raise errors.Refused(
            f"cannot listen on port {port} of {host}: {os.strerror(error.errno or 0).lower()}",
            hint="name another address with --host" if _is_address(error) else "name another port with --port",
        ) from error


def url(listening: socket.socket, *, tls: bool) -> str:
    """Where clients on this machine reach it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http{'s' * tls}://{f'[{host}]' if ':' in host else host}:{port}"


async def run(serving: Serving, listening: socket.socket, stop: asyncio.Event, options: Options | None = None) -> None:
    """Serve until `stop` is set; then let the calls in flight end, for at most `options.grace` seconds.

    Calls that come meanwhile are refused as Unreachable, and streams that only wait end so.
    """
    options = options or Options()
    connections.install()
    asyncio.get_running_loop().set_exception_handler(_on_fault)

    async def drained() -> None:
        """Once told to stop: no new call, and no call left."""
        await stop.wait()
        serving.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(options.grace):
                while serving.active:
                    await asyncio.sleep(STOP_POLL_SECONDS)

    threads, trigger = ThreadPoolExecutor(THREADS, thread_name_prefix="rpc"), asyncio.Event()
    app = Application(serving, threads, options)
    port = asyncio.create_task(serve(app, _config(listening, options), shutdown_trigger=trigger.wait))
    leaving = asyncio.create_task(drained())
    try:
        await asyncio.wait({port, leaving}, return_when=asyncio.FIRST_COMPLETED)
        trigger.set()
        await asyncio.wait({port}, timeout=2 * FLUSH_SECONDS)  # its own limit does not hold from Python 3.12 on
        if port.done():
            await port
    finally:
        port.cancel()
        leaving.cancel()
        await asyncio.gather(port, leaving, return_exceptions=True)
        threads.shutdown(wait=not serving.active, cancel_futures=True)


def _config(listening: socket.socket, options: Options) -> Config:
    config = Config()
    config.bind = [f"fd://{listening.detach()}"]
    config.backlog = BACKLOG
    config.keep_alive_max_requests = FOREVER
    config.keep_alive_timeout = IDLE_SECONDS
    config.graceful_timeout = FLUSH_SECONDS
    config.include_server_header = False
    config.h2_max_concurrent_streams = options.limits.connection_streams
    config.h11_max_incomplete_size = HEADROOM * options.limits.header_bytes
    config.errorlog = LOG.getChild("port")  # nothing of its own on stderr
    config.errorlog.setLevel(logging.WARNING)  # and no word where it listens, which we have said
    if options.tls_cert is not None and options.tls_key is not None:
        config.certfile, config.keyfile = str(options.tls_cert), str(options.tls_key)
    return config


def _on_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What went wrong outside of any call. Connections that break and handshakes that fail are the other side's."""
    del loop
    fault = context.get("exception")
    level = logging.DEBUG if isinstance(fault, (ssl.SSLError, OSError, asyncio.CancelledError)) else logging.ERROR
    LOG.log(level, "%s", context["message"], exc_info=fault)


def _is_address(error: OSError) -> bool:
    return error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
