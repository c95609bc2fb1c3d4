"""The real service, or a bare one, in a process of its own on a free loopback port; for benchmarks.

    python -m support.service_process FOLDER    serves the home in FOLDER
    python -m support.service_process           answers GetRun with an empty run, and nothing else

prints host:port once it listens, and ends when its stdin does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


@contextmanager
def serving(folder: Path | None = None) -> Iterator[str]:
    """Serve a home until the block ends, or answer with nothing where there is none; yields host:port."""
    command = [sys.executable, "-m", "support.service_process", *([str(folder)] if folder else [])]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]).rstrip(":")}
    process = subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


async def _until_stdin_ends(stop: asyncio.Event) -> None:
    await asyncio.to_thread(sys.stdin.read)
    stop.set()


async def _serve(folder: Path) -> None:
    from akka_optimize.trainer.service import server
    from akka_optimize.trainer.service.serving import Serving
    from akka_optimize.trainer.servicer import Servicer

    listening, stop = server.listen("127.0.0.1", 0), asyncio.Event()
    servicer = Servicer.opened(folder, backend="server")
    print(f"127.0.0.1:{listening.getsockname()[1]}", flush=True)
    ending = asyncio.create_task(_until_stdin_ends(stop))
    await server.run(Serving(servicer), listening, stop)
    await ending
    servicer.close()


async def _bare() -> None:
    from connectrpc.compat import google_protobuf_codecs
    from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
    from connectrpc.server import ConnectASGIApplication, Endpoint
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    from akka_optimize.protocol import SERVICE
    from akka_optimize.protocol import trainer_pb2 as pb
    from akka_optimize.trainer.service import server

    async def nothing(_request: pb.GetRunRequest, _context: Any) -> pb.Run:
        return pb.Run()

    info: MethodInfo[Any, Any] = MethodInfo(
        name="GetRun",
        service_name=SERVICE,
        input=pb.GetRunRequest,
        output=pb.Run,
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=StreamType.UNARY,
    )
    endpoints = {f"/{SERVICE}/GetRun": Endpoint.unary(info, nothing)}

    class Bare(ConnectASGIApplication[Any]):
        path = f"/{SERVICE}"

    app = Bare(service=None, endpoints=lambda _: endpoints, codecs=google_protobuf_codecs())
    listening, stop, config = server.listen("127.0.0.1", 0), asyncio.Event(), Config()
    print(f"127.0.0.1:{listening.getsockname()[1]}", flush=True)
    config.bind = [f"fd://{listening.detach()}"]
    config.keep_alive_max_requests = 1 << 62
    config.errorlog = None
    ending = asyncio.create_task(_until_stdin_ends(stop))
    await serve(app, config, shutdown_trigger=stop.wait)
    await ending


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])) if len(sys.argv) > 1 else _bare())
