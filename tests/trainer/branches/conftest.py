"""A home whose one run has saved at updates 10 and 20."""

from __future__ import annotations

import pytest
from support import life, parents


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def parent(trainer):
    """A run that has ended, with much in it that a child inherits or does not."""
    settings = {
        "name": "parent",
        "purpose": "To have children.",
        "description": "the parent's own",
        "configName": "base",
        "grader": "json-label-match",
        "submissionId": "the-parents",
        "config.seed": 3,
        "config.hyperparams.training.sequencesPerUpdate": 12,
        "execution.sequencesPerPass": 3,
    }
    return parents.trained(*trainer, settings)


@pytest.fixture
def snapshot(trainer, parent):
    """Its save at update 10."""
    return trainer[0].snapshots(parent.run_id).items[1]
