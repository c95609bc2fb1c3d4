"""Any servicer behind the real service on a free loopback port, inside this process, for tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from akka_optimize.trainer.service import server
from akka_optimize.trainer.service.serving import Serving


@contextmanager
def served(servicer: object, **options: Any) -> Iterator[str]:
    """Serve until the block ends; yields host:port. `options` go to `server.run`."""
    listening = server.listen("127.0.0.1", 0)
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(
        target=loop.run_until_complete, args=(server.run(Serving(servicer), listening, stop, **options),)
    )
    thread.start()
    try:
        yield host
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
