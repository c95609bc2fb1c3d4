"""Folders that were exported once, for tests to import and to spoil copies of."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import records


@pytest.fixture(scope="session")
def lineage(tmp_path_factory: pytest.TempPathFactory) -> records.Lineage:
    """A home with a parent, its child and another run, which nobody changes."""
    return records.lineage(tmp_path_factory.mktemp("lineage"))


@pytest.fixture(scope="session")
def folders(lineage: records.Lineage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of all three, as an export left them."""
    return records.exported(lineage, tmp_path_factory.mktemp("records"), lineage.child, lineage.other)


@pytest.fixture
def copy(folders: Path, tmp_path: Path) -> Path:
    """A copy of the folders, to spoil."""
    return records.copied(folders, tmp_path / "records")
