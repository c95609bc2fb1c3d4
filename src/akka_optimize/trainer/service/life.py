"""One service's life: the port opens at once, the home behind it in a thread; it ends when it is told to.

Told once (SIGTERM, SIGINT), it takes no new call, lets those in flight end, tells the home's workers to end, and waits
for both. What waits in the queue goes on waiting. A home that is still being opened is not waited for, since what a
start does to it is done whole or not at all. Told twice, it ends at once, and its workers with it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.trainer import launch, slots
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.catalog.base import utc_now
from akka_optimize.trainer.processes import Process
from akka_optimize.trainer.service import background, server
from akka_optimize.trainer.service.keeping import Keeper
from akka_optimize.trainer.service.serving import Serving, Starting
from akka_optimize.trainer.servicer import Servicer

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from types import FrameType

    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.service.options import Options

PATIENCE_SECONDS = 4.0
"""How long one transaction of a call may wait for another process in the home.

Clients wait ten seconds unless told otherwise. Below half of that, a call that meets two locks, one after the other,
still ends with the sentence that names the catalog and not with the client's own, which could not say why.
"""
OPENING_PATIENCE_SECONDS = 30.0  # nobody waits for the start with a deadline
POLL_SECONDS = 0.05
TOLD_BY = (signal.SIGTERM, signal.SIGINT)
SIGNALLED = 128  # added to a signal's number, the exit code of what a signal ended


def opened(home: Home) -> Servicer:
    """The servicer of a home: its tables brought up to date, lost runs declared lost, its queue given a worker."""
    with Catalog.open(home, patience=OPENING_PATIENCE_SECONDS):
        return Servicer.opened(home.path, backend="server", patience=PATIENCE_SECONDS)


class Life:
    """From an open port to the end. `say` tells the user one sentence; `ready` is called once calls are answered."""

    def __init__(
        self,
        home: Home,
        listening: socket.socket,
        options: Options,
        *,
        open_home: Callable[[Home], Any],
        say: Callable[[str], None],
        ready: Callable[[], None],
    ) -> None:
        self._home, self._listening, self._options = home, listening, options
        self._open_home, self._say, self._ready = open_home, say, ready
        self._serving = Serving(Starting(home.path))
        address = server.url(listening, tls=options.tls_cert is not None)
        itself = Process.of(os.getpid())
        self.record = background.Record(itself.pid, itself.born, address, utc_now(), background.STARTING)
        self._told_by: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told = asyncio.Event()
        self._opening = False
        self._keeper = Keeper(home, PATIENCE_SECONDS, say)

    def run(self) -> int:
        """Serve to the end; the signal that told us, or 0. See `stuck` and `opening` afterwards.

        Raises what opening the home raises: Refused, Exhausted, TimedOut.
        """
        with _heard(self._hear, self._keeper.wake), ExitStack() as until_the_end:
            background.write(self._home, self.record)
            until_the_end.callback(background.erase, self._home)
            asyncio.run(self._serve(until_the_end))
        return self._told_by or 0

    @property
    def stuck(self) -> bool:
        """Is a call still at work that did not end in time? Then only the end of the process ends it."""
        return self._serving.active > 0

    @property
    def opening(self) -> bool:
        """Is the home still being opened? No stop waits for that, and only the end of the process ends it."""
        return self._opening

    async def _serve(self, until_the_end: ExitStack) -> None:
        self._loop, stop = asyncio.get_running_loop(), asyncio.Event()
        if self._told_by is not None:
            self._told.set()
        port = asyncio.create_task(server.run(self._serving, self._listening, stop, self._options))
        told = asyncio.create_task(self._told.wait())
        opened = self._opened(self._loop)
        try:
            await _first_of(port, told, opened)
            if opened.done():
                self._serving.servicer = opened.result()
                self._note(background.READY)
                self._ready()
                self._keeper.start()
                await _first_of(port, told)
            if not port.done():
                self._note(background.STOPPING)
                stop.set()
                await self._leave(until_the_end)
        finally:
            self._keeper.stop()
            stop.set()
            told.cancel()
            await port
        if not self.stuck and opened.done() and opened.exception() is None:
            opened.result().close()

    def _opened(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[Any]:
        """The servicer, from a thread of its own."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="opening")
        opened = loop.run_in_executor(thread, self._open_home, self._home)
        thread.shutdown(wait=False)  # once it is done
        self._opening = True
        opened.add_done_callback(self._has_opened)
        return opened

    def _has_opened(self, opened: asyncio.Future[Any]) -> None:
        self._opening = False
        if not opened.cancelled():
            opened.exception()  # looked at, also where we were told to end meanwhile

    async def _leave(self, until_the_end: ExitStack) -> None:
        """No new worker, and no new call; wait for the workers that are there."""
        until_the_end.enter_context(launch.held_back())
        workers = slots.holders(self._home)
        refused = slots.tell(workers, signal.SIGTERM)
        if workers:
            who = "1 worker ends" if len(workers) == 1 else f"{len(workers)} workers end"
            self._say(f"stopping; {who} after the update at hand")
        for worker in refused:
            self._say(f"the worker in process {worker.pid} is another user's, and goes on")
        waited_for = [worker for worker in workers if worker not in refused]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._options.grace):
                while waited_for := [worker for worker in waited_for if worker.alive()]:
                    await asyncio.sleep(POLL_SECONDS)
        for worker in waited_for:
            self._say(f"the worker in process {worker.pid} is still at its update, and ends after it")

    def _note(self, state: str) -> None:
        with suppress(errors.AkkaError):  # a disk that is full ends no service
            background.write(self._home, replace(self.record, state=state))

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self._told_by is None:
            self._told_by = number
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._told.set)
            return
        slots.tell(slots.holders(self._home), signal.SIGKILL)
        background.erase(self._home)
        os._exit(SIGNALLED + number)


async def _first_of(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


@contextmanager
def _heard(told: Callable[[int, FrameType | None], None], child_ended: Callable[[], None]) -> Iterator[None]:
    """Until the block ends, hear the signals."""
    handlers: dict[signal.Signals, Any] = dict.fromkeys(TOLD_BY, told)
    handlers[signal.SIGCHLD] = lambda _number, _frame: child_ended()
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
