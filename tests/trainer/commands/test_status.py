"""`akka-trainer status`: which state, where, and how much there is to do."""

from __future__ import annotations

import os
import sqlite3

import pytest
from support import life
from support.trainer_program import TrainerProgram

from akka_optimize.trainer import slots, start
from akka_optimize.trainer.commands import status
from akka_optimize.trainer.processes import Process
from akka_optimize.trainer.service import background


@pytest.fixture
def home(tmp_path):
    """A home with one run in training and two in its queue, and places for three workers."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        for _ in range(3):
            start.start(catalog, home, life.descriptor())
        assert catalog.claim() is not None
    slots.set_count(home, 3)
    return home


@pytest.fixture
def shown(home, capsys):
    """A function from a state to what the command prints of a service in it, by name; and its complaints."""
    itself = Process.of(os.getpid())

    def shown(state):
        record = background.Record(itself.pid, itself.born, "http://127.0.0.1:9", "2026-01-01T00:00:00.000Z", state)
        background.write(home, record)
        ended = TrainerProgram(home.path)("status", capsys=capsys)
        assert ended.code == 0
        return dict(line.split(None, 1) for line in ended.out.splitlines()), ended.err

    return shown


COUNTS = {"Workers": "3", "Queued": "2", "Running": "1"}


@pytest.mark.parametrize(
    ("state", "counts"),
    [(background.STARTING, {}), (background.READY, COUNTS), (background.STOPPING, COUNTS)],
)
def test_what_is_shown_of_a_service(home, shown, state, counts):
    """State, address, process, home, since when; and the counts, unless its tables may be at work."""
    rows, complaints = shown(state)
    place = {"State": state, "Address": "http://127.0.0.1:9", "Process": str(os.getpid()), "Home": str(home.path)}
    assert rows == place | {"Since": "2026-01-01T00:00:00.000Z"} | counts
    assert complaints == ""


def test_counts_that_cannot_be_read_are_left_out(home, shown):
    """A damaged setting is said, and the rest is shown all the same."""
    (home.path / "workers").write_text("many")
    rows, complaints = shown(background.READY)
    assert (rows["State"], "Workers" in rows) == ("ready", False)
    assert complaints.startswith("Warning: ")
    assert "does not hold a number of workers" in complaints


def test_a_damaged_catalog_is_said(home, shown):
    """So is one that is no database any more."""
    home.catalog.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    rows, complaints = shown(background.READY)
    assert (rows["State"], "Queued" in rows) == ("ready", False)
    assert complaints.startswith("Warning: ")
    assert len(complaints.splitlines()) == 1


def test_a_busy_catalog_is_not_waited_for_long(home, shown, monkeypatch):
    """Who asks wants to know soon: what another process keeps is left out after a moment."""
    monkeypatch.setattr(status, "PATIENCE_SECONDS", 0.05)
    other = sqlite3.connect(home.catalog, isolation_level=None)
    try:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        rows, _ = shown(background.READY)
    finally:
        other.close()
    assert rows["State"] == "ready"


def test_nobody_serves(home, capsys):
    """Exit code 1, on stderr, and no home is made where there is none."""
    ended = TrainerProgram(home.path)("status", capsys=capsys)
    assert (ended.code, ended.out, ended.err) == (1, "", f"no trainer serves {home.path}\n")
    missing = home.path.with_name("missing")
    assert TrainerProgram(missing)("status", capsys=capsys).code == 1
    assert not missing.exists()
