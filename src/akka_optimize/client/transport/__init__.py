"""How a request reaches the trainer. Every transport keeps this one small contract, and one suite tests them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from google.protobuf.message import Message

M = TypeVar("M", bound="Message")


class Transport(Protocol):
    """Carries messages to the service named in `protocol.SERVICE` and raises nothing but `errors.AkkaError`."""

    def unary(self, method: str, request: Message, reply: type[M], *, timeout: float) -> M:
        """One request, one reply, within `timeout` seconds (TimedOut)."""
        ...

    def stream(self, method: str, request: Message, reply: type[M], *, timeout: float | None) -> Iterator[M]:
        """One request, many replies, in order; `timeout` seconds for all of them, None for no bound."""
        ...

    def close(self) -> None:
        """Let go of connections and files. A closed transport is not used again."""
        ...
