"""Followers of runs over the network: any number of them on one watch.

Following a run takes a thread for as long as the run lasts, so it takes none of those that answer calls. Each run that
somebody follows has one watch: a thread that goes through the servicer's events and hands each to the event loop,
which passes it on to every follower. The thread waits until an event was passed on, and ends when the last follower
has left.

A follower first gets where the run is now, then every change, and the terminal event last. One that reads slowly holds
up nobody: events wait for it in a queue of its own, and when that is full the oldest is left out. An event says where
the run is, not what has changed, so that a follower which missed some is late and never wrong; the last one, which is
the terminal one, is never the oldest.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

from akka_optimize import errors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from akka_optimize.protocol import trainer_pb2 as pb
    from akka_optimize.trainer.service.serving import Serving

    Method = Callable[[pb.WatchRunRequest, Any], Generator[pb.RunEvent, None, None]]  # the servicer's WatchRun

MOST_RUNS = 256  # that are followed at once; each takes a thread
BACKLOG = 64  # events that wait for one follower


class Following:
    """The watches of one service. Everything but the watches' threads happens on its event loop."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._watches: dict[tuple[object, str], _Watch] = {}
        self._tasks: set[asyncio.Future[None]] = set()

    async def follow(self, request: Any) -> AsyncGenerator[pb.RunEvent, None]:
        """What the servicer tells of the run in a WatchRunRequest, shared with whoever else follows it by that name.

        Raises what the servicer raises, and Exhausted (too many runs are followed).
        """
        watch = self._watch(request)
        follower = watch.join()
        try:
            while (event := await follower.next()) is not None:
                yield event
        finally:
            watch.leave(follower)

    def _watch(self, request: Any) -> _Watch:
        method = self._serving.method("WatchRun")  # it refuses followers of a service that ends
        key = (self._serving.servicer, request.run_id)
        if (watch := self._watches.get(key)) is None:
            if len(self._tasks) >= MOST_RUNS:
                raise errors.Exhausted(
                    f"{MOST_RUNS} runs are followed already, as many as this trainer can", hint="try again later"
                )
            loop = asyncio.get_running_loop()
            watch = self._watches[key] = _Watch(loop, forget=lambda: self._watches.pop(key, None))
            thread = ThreadPoolExecutor(1, thread_name_prefix="watch")
            task = loop.run_in_executor(thread, watch.produce, method, request)
            thread.shutdown(wait=False)  # once it is done
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(watch.produced)
        return watch


class _Watch:
    """One run's events on their way from the servicer's thread to its followers; to the servicer, the call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, forget: Callable[[], object]) -> None:
        self._loop, self._forget = loop, forget
        self._followers: set[_Follower] = set()
        self._latest: pb.RunEvent | None = None
        self._active = True

    # in the servicer's thread

    def is_active(self) -> bool:
        """Does anybody follow?"""
        return self._active

    def time_remaining(self) -> float | None:
        """A watch has no deadline; its followers have, each one its own."""
        return None

    def produce(self, method: Method, request: pb.WatchRunRequest) -> None:
        """Go through the servicer's events, each once the last one was passed on."""
        with closing(method(request, self)) as events:
            for event in events:
                passed = threading.Event()
                if not self._active:
                    return
                self._loop.call_soon_threadsafe(self._pass_on, event, passed)
                while not passed.wait(1.0) and self._active and not self._loop.is_closed():
                    pass  # a loop that has ended passes nothing on

    # on the event loop

    def join(self) -> _Follower:
        """One more follower, which is told at once where the run is, as far as that is known."""
        follower = _Follower()
        if self._latest is not None:
            follower.tell(self._latest)
        self._followers.add(follower)
        return follower

    def leave(self, follower: _Follower) -> None:
        """One follower less; the last one ends the watch."""
        self._followers.discard(follower)
        if self._active and not self._followers:
            self.end(None)

    def end(self, error: BaseException | None) -> None:
        """Nothing more is told; every follower ends, after what waits for it, with `error` or in peace."""
        self._active = False
        self._forget()
        for follower in self._followers:
            follower.end(error)

    def produced(self, task: asyncio.Future[None]) -> None:
        """The servicer has told everything, or raised something."""
        error = None if task.cancelled() else task.exception()
        if self._active:
            self.end(error)

    def _pass_on(self, event: pb.RunEvent, passed: threading.Event) -> None:
        self._latest = event
        for follower in self._followers:
            follower.tell(event)
        passed.set()


class _Follower:
    """What waits for one follower."""

    def __init__(self) -> None:
        self._events: deque[pb.RunEvent] = deque(maxlen=BACKLOG)
        self._news = asyncio.Event()
        self._ended = False
        self._error: BaseException | None = None

    def tell(self, event: pb.RunEvent) -> None:
        """One more event."""
        self._events.append(event)
        self._news.set()

    def end(self, error: BaseException | None) -> None:
        """There will be no more."""
        self._ended, self._error = True, error
        self._news.set()

    async def next(self) -> pb.RunEvent | None:
        """The next event, when there is one; None after the last one. Raises what ended the watch."""
        while not self._events:
            if self._error is not None:
                raise self._error
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()
        return self._events.popleft()
