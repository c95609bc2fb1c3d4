"""A part of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a list: `items` from `offset` on, out of `total`."""

    items: tuple[Any, ...]
    offset: int
    total: int
