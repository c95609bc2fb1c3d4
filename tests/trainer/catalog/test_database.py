"""The connection: its set-up, its transactions, and what the database's errors mean."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import insert, text
from support import processes
from support.catalog import make_run

from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog, database, schema
from akka_optimize.trainer.home import Home

FULL = """
import resource, sys
from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
from support.catalog import chunked
catalog = Catalog.open(Home.open(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
chunks = chunked(2, range(1, 20_001), {"loss": [0.5] * 20_000})
try:
    catalog.record(sys.argv[2], chunks, observed_step=20_000, loss=0.5)
except errors.Exhausted as error:
    print(error.message)
"""


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        pytest.param("journal_mode", "wal", id="readers-and-a-writer-do-not-wait"),
        pytest.param("synchronous", 2, id="a-commit-survives-a-loss-of-power"),
        pytest.param("foreign_keys", 1, id="references-are-held"),
        pytest.param("busy_timeout", int(database.BUSY_SECONDS * 1000), id="a-writer-waits-for-another"),
    ],
)
def test_every_connection_is_set_up(catalog: Catalog, pragma: str, value: object) -> None:
    """The settings that the promises rest on are in force in the connections that are used."""
    with catalog._database.read() as connection:
        assert connection.execute(text(f"PRAGMA {pragma}")).scalar() == value


def test_a_writer_shuts_out_others_before_its_first_read(home: Home, catalog: Catalog) -> None:
    """What a writing transaction has read cannot be changed by anybody before it commits; reading goes on."""
    with catalog._database.write():
        other = sqlite3.connect(home.catalog, timeout=0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        assert other.execute("SELECT count(*) FROM runs").fetchone() == (0,)
        other.close()


def test_a_failed_transaction_leaves_nothing(catalog: Catalog) -> None:
    """What was written before an error in the same transaction is not there."""
    values = {"workload_id": "a", "position": 1, "name": "a", "created_at": ""}

    def write_and_fail() -> None:
        with catalog._database.write() as connection:
            connection.execute(insert(schema.workloads).values(values))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    assert catalog.workloads() == ()


def test_a_reference_to_nothing_is_refused(catalog: Catalog) -> None:
    """The database holds references, even where no query looked first."""
    with pytest.raises(errors.Internal, match="FOREIGN KEY"), catalog._database.write() as connection:
        connection.execute(insert(schema.dataset_names).values(name="a", hash="nowhere"))


def test_a_reader_sees_one_moment(catalog: Catalog) -> None:
    """What is committed meanwhile is not seen within a reading transaction."""
    count = text("SELECT count(*) FROM workloads")
    with catalog._database.read() as connection:
        assert connection.execute(count).scalar() == 0
        catalog.add_workload("triage")
        assert connection.execute(count).scalar() == 0
    assert len(catalog.workloads()) == 1


def test_a_held_catalog_is_said(home: Home, catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """When another process does not let go, the time runs out with a message that names the catalog."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(home.catalog, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Catalog.open(home) as waiting, pytest.raises(errors.TimedOut, match=str(home.catalog)):
        waiting.add_workload("triage")
    other.close()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"This is no database." * len(data), id="other-content"),
        pytest.param(lambda data: data[:100] + bytes(len(data) - 100), id="all-zero-after-the-header"),
    ],
)
def test_a_damaged_catalog_is_named(home: Home, damage: object) -> None:
    """A file that is no database, or no longer, is refused with its name and never written to."""
    Catalog.open(home).close()
    damaged = damage(home.catalog.read_bytes())  # type: ignore[operator]
    home.catalog.write_bytes(damaged)
    with pytest.raises(errors.Refused, match=f"{home.catalog} is damaged"):
        Catalog.open(home)
    assert home.catalog.read_bytes() == damaged


def test_a_catalog_that_cannot_be_opened_is_named(home: Home) -> None:
    """A folder in the catalog's place is refused with its name."""
    home.catalog.mkdir()
    with pytest.raises(errors.Refused, match=f"{home.catalog} cannot be used"):
        Catalog.open(home)


def test_a_full_disk_is_said_and_changes_nothing(home: Home, catalog: Catalog, tmp_path: Path) -> None:
    """A transaction that does not fit on the disk is Exhausted; nothing of it is there, and work goes on after."""
    run = make_run(catalog, loss=[1.0, 2.0])
    before = catalog.run(run.run_id), list(catalog.metrics(run.run_id))
    assert "the disk is full" in processes.run(FULL, home.path, run.run_id)
    assert (catalog.run(run.run_id), list(catalog.metrics(run.run_id))) == before
    assert catalog.add_workload("another").name == "another"
