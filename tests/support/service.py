"""Any servicer behind the real service on a free loopback port, inside this process, for tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from akka_optimize.trainer.service import server
from akka_optimize.trainer.service.serving import Serving

PATIENCE_SECONDS = 30.0


class Service:
    """The real server in a thread, whose stop the test decides; `host` is its host:port."""

    def __init__(self, servicer: object, **options: Any) -> None:
        """`options` go to `server.run`."""
        self.serving, self._listening = Serving(servicer), server.listen("127.0.0.1", 0)
        self.host = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._stop, self._options, begun = asyncio.Event(), options, threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve(begun)))  # which leaves no task behind
        self.thread.start()
        assert begun.wait(PATIENCE_SECONDS)

    async def _serve(self, begun: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        begun.set()
        await server.run(self.serving, self._listening, self._stop, **self._options)

    def stop(self) -> None:
        """Tell it to end."""
        if self.thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)

    def join(self) -> None:
        """Wait until it has ended."""
        self.thread.join(PATIENCE_SECONDS)
        assert not self.thread.is_alive()


@contextmanager
def served(servicer: object, **options: Any) -> Iterator[str]:
    """Serve until the block ends; yields host:port. `options` go to `server.run`."""
    service = Service(servicer, **options)
    try:
        yield service.host
    finally:
        service.stop()
        service.join()
