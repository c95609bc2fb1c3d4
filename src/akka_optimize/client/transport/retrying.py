"""Tries again what may be repeated, when the trainer was not reached, within the time that the call has."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from akka_optimize import errors
from akka_optimize.client.transport.calls import Call

if TYPE_CHECKING:
    import tenacity
    from google.protobuf.message import Message
    from tenacity import RetryCallState

    from akka_optimize.client.transport import M, Transport

T = TypeVar("T")

TRIES = 4
# Seconds: the least that is waited before any try (grpc itself needs as much), the most before the second one, and the
# most before any.
LEAST_PAUSE, FIRST_PAUSE, LONGEST_PAUSE = 0.12, 0.15, 2.0
READS = ("Get", "List", "Validate", "Verify")  # how the names of methods begin that change nothing
# The second time finds what the first one made: by its content, by a token, or because there is nothing left to do.
REPEATABLE = frozenset(
    {
        *("WriteUpload", "CreateDataset", "NameDataset", "StartRun", "SubmitBranches"),
        *("CancelSubmission", "PinSnapshot", "RepeatRun", "ImportRuns"),
    }
)
WHOLE = frozenset({"GetMetrics", "GetRunLog"})  # streams that make one result


def repeatable(method: str) -> bool:
    """May `method` be sent again when nobody knows whether it arrived?"""
    return method.startswith(READS) or method in REPEATABLE


class RetryingTransport:
    """Another transport, and patience: at most four tries, with pauses drawn from 0.12 s to 0.15, 0.3 and 0.6 s.

    Only Unreachable is tried again, only where `repeatable`, and never past the call's deadline. A stream in `WHOLE` is
    handed on when it is there to its end, and fetched again from its beginning when it broke off; another one is tried
    again only until its first message. `sleep` and `clock` are in seconds.
    """

    def __init__(
        self,
        inner: Transport,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._sleep, self._clock = inner, sleep, clock

    def unary(self, method: str, request: Message, reply: type[M], *, timeout: float) -> M:
        """One request, one reply, within `timeout` seconds, pauses and all."""
        call, left = Call(method), self._left(timeout)

        def once() -> M:
            return self._inner.unary(method, request, reply, timeout=left() or 0.0)

        with call.told():
            return self._tried(call, once, left)

    def stream(self, method: str, request: Message, reply: type[M], *, timeout: float | None) -> Iterator[M]:
        """One request, many replies; `timeout` seconds for all of them and for the pauses, None for no bound."""
        call, left = Call(method), self._left(timeout)

        def begun() -> tuple[list[M], Iterator[M]]:
            messages = self._inner.stream(method, request, reply, timeout=left())
            if method in WHOLE:
                return list(messages), iter(())
            return [message for message in (next(messages, None),) if message is not None], messages

        with call.told():
            first, rest = self._tried(call, begun, left)
            yield from first
            yield from rest

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()

    def _left(self, timeout: float | None) -> Callable[[], float | None]:
        """Seconds that remain of `timeout`, counted from now."""
        if timeout is None:
            return lambda: None
        end = self._clock() + timeout
        return lambda: end - self._clock()

    def _tried(self, call: Call, once: Callable[[], T], left: Callable[[], float | None]) -> T:
        sent = False

        def attempt() -> T:
            nonlocal sent
            try:
                with call.attempt():
                    return once()
            except errors.AkkaError as error:
                sent = error.sent = error.sent or sent  # a later try that reached nobody does not undo an earlier one
                raise

        if not repeatable(call.method):
            return attempt()
        try:
            return attempt()
        except errors.Unreachable as error:
            failed = [error]

        def attempt_from_first() -> T:
            if failed:
                raise failed.pop()
            return attempt()

        return _retrying(self._sleep, left)(attempt_from_first)


def _retrying(sleep: Callable[[float], None], left: Callable[[], float | None]) -> tenacity.Retrying:
    """tenacity, loaded only once a call has failed: it is handed that first failure like any other."""
    import tenacity

    def over(state: RetryCallState) -> bool:
        remaining = left()
        return state.attempt_number >= TRIES or (remaining is not None and state.upcoming_sleep >= remaining)

    return tenacity.Retrying(
        sleep=sleep,
        stop=over,
        wait=tenacity.wait_random_exponential(FIRST_PAUSE, LONGEST_PAUSE, min=LEAST_PAUSE),
        retry=tenacity.retry_if_exception_type(errors.Unreachable),
        reraise=True,
    )
