"""What hypercorn's HTTP/2 lacks: that a reader who takes nothing holds up the writer.

Its buffer of a stream wakes the writer whenever nothing could be sent, so that a result of any size is written into
memory for a client that reads none of it; and what waits in a buffer when the connection breaks is waited for until
the server ends. `install` puts a buffer in its place that is asked for more only when it has room, and empties the
buffers of a connection that is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypercorn.protocol
from hypercorn.events import Closed
from hypercorn.protocol import h2

if TYPE_CHECKING:
    from hypercorn.events import Event

HIGH_WATER = 1 << 20  # bytes of one stream that may wait for its reader; a message more may be on top
LOW_WATER = HIGH_WATER // 2


def install() -> None:
    """Have every HTTP/2 connection from now on paced by its readers; a second time changes nothing."""
    h2.StreamBuffer = PacedBuffer  # type: ignore[misc]
    hypercorn.protocol.H2Protocol = PacedProtocol  # type: ignore[attr-defined]


class PacedBuffer(h2.StreamBuffer):
    """What waits to be sent on one stream. `_paused` is set when the writer may go on."""

    async def push(self, data: bytes) -> None:
        """Take data from the writer, and return once there is room for more."""
        if self._complete:
            raise h2.BufferCompleteError
        self.buffer.extend(data)
        await self._is_empty.clear()
        if len(self.buffer) >= HIGH_WATER:
            await self._paused.clear()
            await self._paused.wait()

    async def pop(self, max_length: int) -> bytes:
        """Give up to `max_length` bytes to be sent: none when the reader's window is closed."""
        data = bytes(self.buffer[:max_length])
        del self.buffer[:max_length]
        if len(self.buffer) < LOW_WATER:
            await self._paused.set()
        if not self.buffer:
            await self._is_empty.set()
        return data


class PacedProtocol(h2.H2Protocol):
    """A connection that lets its writers go when it is gone."""

    async def handle(self, event: Event) -> None:
        """Take in what the other side sent, or that it is gone."""
        await super().handle(event)
        if isinstance(event, Closed):
            for buffer in list(self.stream_buffers.values()):
                await buffer.close()
