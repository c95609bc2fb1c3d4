"""How the event loop gets at the messages of a method that streams: followed where it may take for ever, else pulled.

Whoever stops half way, since the caller left or the time ran out, closes the stream: the servicer's generator ends,
and with it whatever it holds.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from akka_optimize.trainer.service.following import Following

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from concurrent.futures import Executor

    from akka_optimize.trainer.service.serving import Serving
    from akka_optimize.trainer.servicer import Call

ENDLESS = "WatchRun"


def messages(name: str, serving: Serving, threads: Executor) -> Callable[[Any, Call], AsyncGenerator[Any, None]]:
    """The messages that the method `name` answers a request with, as a function of request and call."""
    if name == ENDLESS:
        following = Following(serving)
        return lambda request, _call: following.follow(request)
    return lambda request, call: pulled(serving.method(name)(request, call), threads)


async def pulled(generator: Generator[Any, None, None], threads: Executor) -> AsyncGenerator[Any, None]:
    """What a generator yields, made in a thread; while one message is on its way, the next one is made, and no more."""
    pending = threads.submit(next, generator, None)
    try:
        while (message := await asyncio.wrap_future(pending)) is not None:
            pending = threads.submit(next, generator, None)
            yield message
    finally:
        # a generator that is at work cannot be closed before it is done
        pending.add_done_callback(lambda _: _closed(generator, threads))


def _closed(generator: Generator[Any, None, None], threads: Executor) -> None:
    with suppress(RuntimeError):  # the threads have ended, and the process is about to
        threads.submit(generator.close)
