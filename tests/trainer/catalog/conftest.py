"""A catalog in a fresh home."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home."""
    return Home.open(tmp_path / "home")


@pytest.fixture
def catalog(home: Home) -> Iterator[Catalog]:
    """Its catalog, whose clock goes on by a second with each look."""
    seconds = count()
    with Catalog.open(home, now=lambda: f"2026-01-01T00:{next(seconds) // 60:02}:00Z") as catalog:
        yield catalog
