"""The servicer that answers now: one that says what the start is at, and then the real one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from akka_optimize import __version__, errors, records
from akka_optimize.protocol import SERVICE, convert
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer import environment
from akka_optimize.trainer.catalog.base import utc_now

if TYPE_CHECKING:
    from pathlib import Path

    from google.protobuf.message import Message

    from akka_optimize.trainer.servicer import Call


STREAMS = frozenset(
    method.name
    for method in pb.DESCRIPTOR.services_by_name[SERVICE.rpartition(".")[2]].methods
    if method.server_streaming
)


class Serving:
    """Holds the servicer; every call looks here, so that a start can end while the port is open already.

    `servicer` may be replaced, `stopping` may be read, at any time and in any thread. `active` is how many calls the
    servicer is at work on.
    """

    def __init__(self, servicer: Any) -> None:
        self.servicer = servicer
        self._stopping, self._active, self._counting = False, 0, threading.Lock()

    @property
    def starting(self) -> bool:
        """Is the home still being opened?"""
        return isinstance(self.servicer, Starting)

    @property
    def stopping(self) -> bool:
        """Has somebody told the service to end? Health is NOT_SERVING from then on."""
        return self._stopping

    @property
    def active(self) -> int:
        """How many calls the servicer is at work on, streams included."""
        return self._active

    def stop(self) -> None:
        """Refuse every new call from now on, and end the streams that only wait; other calls end by themselves."""
        self._stopping = True

    def method(self, name: str) -> Any:
        """A method of the servicer that answers now.

        Raises Unreachable (starting, stopping), Unsupported (it has none).
        """
        if self._stopping:
            raise stopped()
        method = getattr(self.servicer, name, None)
        if method is None:
            raise errors.Unsupported(f"this trainer has no {name}")
        return self._stream(method) if name in STREAMS else self._unary(method)

    def _unary(self, method: Any) -> Any:
        def answer(request: Message, call: Call) -> Any:
            with self._counted():
                return method(request, call)

        return answer

    def _stream(self, method: Any) -> Any:
        def answer(request: Message, call: Call) -> Iterator[Any]:
            leaving = _LeavingCall(call, self)
            with self._counted():
                yield from method(request, leaving)
            if leaving.cut:
                raise stopped()

        return answer

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._counting:
            self._active += 1
        try:
            yield
        finally:
            with self._counting:
                self._active -= 1


def stopped() -> errors.Unreachable:
    """What a caller is told while the service ends."""
    return errors.Unreachable("the trainer is stopping", hint="try again when it is back")


class _LeavingCall:
    """A call whose caller counts as gone when the service ends; `cut` once somebody was told so."""

    def __init__(self, call: Call, serving: Serving) -> None:
        self._call, self._serving, self.cut = call, serving, False

    def time_remaining(self) -> float | None:
        """Seconds until the deadline, or None where there is none."""
        return self._call.time_remaining()

    def is_active(self) -> bool:
        """Is the caller still there, and are we?"""
        if not self._call.is_active():
            return False
        self.cut = self._serving.stopping
        return not self.cut


class Starting:
    """Answers while the home is being opened: what the start is at, and nothing else."""

    def __init__(self, home: Path, stage: str = "opening its home") -> None:
        self.stage = stage
        self._home, self._started_at = home, utc_now()

    def GetInfo(self, _request: pb.GetInfoRequest, _call: object) -> pb.Info:
        """What this trainer is going to be."""
        return convert.to_info(
            records.Info(
                backend="server",
                version=__version__,
                home=str(self._home),
                workers=0,
                queued=0,
                running=0,
                startup=self.stage,
                notes=(),
                build=environment.build(),
                started_at=self._started_at,
            )
        )

    def __getattr__(self, name: str) -> Any:
        if name[:1].islower() or name.startswith("_"):
            raise AttributeError(name)

        def refuse(_request: object, _call: object) -> None:
            raise errors.Unreachable(f"the trainer is starting: {self.stage}", hint="try again in a moment")

        return refuse
