"""The trainer inside this process: a method call, under the same contract as the wire."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from akka_optimize import errors

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from akka_optimize.client.transport import M


class EmbeddedCall:
    """What a servicer method may ask of the call it serves; a grpc.ServicerContext answers the same two."""

    def __init__(self, timeout: float | None) -> None:
        self._deadline = None if timeout is None else time.monotonic() + timeout

    def time_remaining(self) -> float | None:
        """Seconds until the deadline, or None where there is none."""
        return None if self._deadline is None else self._deadline - time.monotonic()

    def is_active(self) -> bool:
        """Is the caller still there? In one process, always."""
        return True


class EmbeddedTransport:
    """Calls the servicer that it is handed; knows nothing else of the trainer."""

    def __init__(self, servicer: Any) -> None:
        self._servicer = servicer

    def unary(self, method: str, request: Message, reply: type[M], *, timeout: float) -> M:
        """Call the method and return its reply. What it raises is an AkkaError already."""
        answer: M = self._method(method)(request, EmbeddedCall(timeout))
        return answer

    def stream(self, method: str, request: Message, reply: type[M], *, timeout: float | None) -> Iterator[M]:
        """Yield what the method yields, and stop at the deadline."""
        call = EmbeddedCall(timeout)
        for message in self._method(method)(request, call):
            remaining = call.time_remaining()
            if remaining is not None and remaining < 0:
                raise errors.TimedOut(
                    f"the trainer did not answer within {timeout:g} s", hint="allow more with --timeout"
                )
            yield message

    def close(self) -> None:
        """Close the trainer's files."""
        self._servicer.close()

    def _method(self, name: str) -> Any:
        method = getattr(self._servicer, name, None)
        if method is None:
            raise errors.Unsupported(f"this trainer has no {name}")
        return method
