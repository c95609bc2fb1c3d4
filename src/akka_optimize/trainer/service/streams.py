"""How the event loop gets at the messages of a method that streams and has an end; `following` has the one without.

Whoever stops half way, since the caller left or the time ran out, closes the stream: the servicer's generator ends,
and with it whatever it holds.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from concurrent.futures import Executor


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
