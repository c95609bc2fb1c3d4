"""What a service was told about safety and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of everything. Bytes, counts and levels; a caller that goes beyond is told which one, and how much."""

    message_bytes: int = 4 << 20
    """One request message, also once it is decompressed."""
    nesting: int = 32
    """Messages within messages; documents inside of them have a limit of their own."""
    list_items: int = 1000
    """Entries of any list of a request."""
    header_bytes: int = 16 << 10
    """All headers of one request, names and values."""
    streams: int = 2048
    """Calls of all connections together that are in flight."""
    connection_streams: int = 128
    """Calls of one HTTP/2 connection that are in flight: hypercorn's h2_max_concurrent_streams."""
    body_seconds: float = 30.0
    """Between a request's headers and the end of its body."""


@dataclass(frozen=True, slots=True)
class Options:
    """`token`: what callers have to know. `hosts`: names that they may call us by. `grace`: seconds to end in."""

    token: str | None = field(default=None, repr=False)
    hosts: frozenset[str] = frozenset()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    limits: Limits = field(default_factory=Limits)
    grace: float = 10.0
