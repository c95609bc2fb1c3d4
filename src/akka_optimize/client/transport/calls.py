"""One call as the user sees it: its request id, and how many tries it took.

Whoever repeats a call opens a `Call` and makes each try within `attempt()`; the transport below, which knows nothing of
repeating, asks `trying` for the id that goes on the wire. So every try of a call carries one id, and `observe` hears of
the call once.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from akka_optimize import errors

# Method, request id (16 hex digits), seconds in all, tries, and "ok" or the name of the error that ended it.
Observe = Callable[[str, str, float, int, str], None]

_under_way: ContextVar[Call | None] = ContextVar("call under way", default=None)


class Call:
    """One call of `method`, from its first try to its end. `observe` is told at the end, when there is one."""

    def __init__(self, method: str, observe: Observe | None = None) -> None:
        self.method, self.request_id, self.tries, self.observe = method, secrets.token_hex(8), 0, observe

    @contextmanager
    def told(self) -> Iterator[None]:
        """The whole of the call."""
        started, outcome = time.monotonic(), "left"  # by its reader, or by Ctrl-C
        try:
            yield
            outcome = "ok"
        except errors.AkkaError as error:
            outcome = type(error).__name__
            raise
        finally:
            if self.observe is not None:
                self.observe(self.method, self.request_id, time.monotonic() - started, self.tries, outcome)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """One try; what is called within it is part of this call."""
        token = _under_way.set(self)
        try:
            yield
        finally:
            _under_way.reset(token)


@contextmanager
def trying(method: str, observe: Observe | None) -> Iterator[str]:
    """One try, on a transport: yields the request id of the call that it belongs to, or of one of its own."""
    call = _under_way.get()
    if call is not None:
        call.tries += 1
        call.observe = call.observe or observe
        yield call.request_id
        return
    call = Call(method, observe)
    call.tries = 1
    with call.told():
        yield call.request_id
