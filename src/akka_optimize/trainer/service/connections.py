"""What hypercorn does not expect of the other side.

When a caller left, the connection stayed open until the idle time was over, and with it a file. And over HTTP/2 each of
these ended the connection with a traceback, and every other call on it:

* Data of a call that was answered before all of it had come.
* A path or a method that is not ASCII, an upgrade from HTTP/1.1 whose settings are none.
* Priorities, which nobody has to obey any more, and of which a caller can send any number.

And a call that was given up by a reader who had taken nothing for a while was waited for until the connection ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h2.errors
import h2.exceptions
import hypercorn.asyncio.run
import hypercorn.protocol
from h2.events import StreamReset
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.events import Closed, Event, Updated

from akka_optimize.trainer.service import pacing

if TYPE_CHECKING:
    from h2.events import PriorityUpdated, RequestReceived


def install() -> None:
    """Have every connection from now on be a tolerant one; a second time changes nothing."""
    pacing.install()
    hypercorn.asyncio.run.TCPServer = EndingServer  # type: ignore[attr-defined]
    hypercorn.protocol.H2Protocol = TolerantProtocol  # type: ignore[attr-defined]


class EndingServer(TCPServer):
    """A connection that ends once the other side has ended it, and its calls have."""

    _left = False

    async def _read_data(self) -> None:
        try:
            await super()._read_data()
        finally:  # also when the service ends it
            self._left = True
        await self.idle_task.stop()

    async def protocol_send(self, event: Event) -> None:
        """Send, close, or begin to wait for the next call, which does not come when the caller has left."""
        if not (self._left and isinstance(event, Updated)):
            await super().protocol_send(event)


class TolerantProtocol(pacing.PacedProtocol):
    """A connection that goes on."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.streams = _Streams()

    async def initiate(self, headers: list[tuple[bytes, bytes]] | None = None, settings: bytes | None = None) -> None:
        """Begin to speak HTTP/2, with the request that asked for it where it came over HTTP/1.1."""
        try:
            await super().initiate(headers, settings)
        except (ValueError, h2.exceptions.H2Error):
            await self.send(Closed())

    async def _create_stream(self, request: RequestReceived) -> None:
        wanted = {name: value for name, value in request.headers or () if name in (b":method", b":path")}
        if len(wanted) == 2 and all(value.isascii() for value in wanted.values()):
            await super()._create_stream(request)
        else:
            self.connection.reset_stream(request.stream_id, h2.errors.ErrorCodes.PROTOCOL_ERROR)

    async def _handle_events(self, events: list[Any]) -> None:
        for event in events:
            if isinstance(event, StreamReset) and event.stream_id in self.stream_buffers:
                await self.stream_buffers[event.stream_id].close()  # nobody takes what waits there
        await super()._handle_events(events)

    async def _priority_updated(self, _event: PriorityUpdated) -> None:
        return


class _Streams(dict[int, Any]):
    """The streams in use. Whatever comes for another one is for nobody."""

    def __missing__(self, _stream_id: int) -> _Nobody:
        return _Nobody()


class _Nobody:
    """Takes what comes."""

    idle = True

    async def handle(self, _event: object) -> None:
        """And leaves it."""
