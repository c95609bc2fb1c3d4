"""The connection: its set-up, its transactions, and what the database's errors mean."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import insert, text, update
from sqlalchemy.engine.default import DefaultDialect
from support import processes
from support.catalog import make_run

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
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


def test_patience_is_the_callers(home: Home, catalog: Catalog) -> None:
    """Who allows less time than usual waits no longer for another process, and is told how long it was."""
    other = sqlite3.connect(home.catalog, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with (
        Catalog.open(home, patience=0.02) as waiting,
        pytest.raises(errors.TimedOut, match=r"for 0\.02 s") as caught,
    ):
        waiting.add_workload("triage")
    assert "--timeout" in str(caught.value.hint)
    other.close()
    with Catalog.open(home, patience=3600) as patient:
        assert patient.patience == database.BUSY_SECONDS


@pytest.mark.parametrize("size", [None, 0], ids=["missing", "empty"])
@pytest.mark.parametrize("kept", ["runs/0123456789abcdef-0123456789ab", "datasets/0123.jsonl"])
def test_a_lost_catalog_is_refused(home: Home, size: int | None, kept: str) -> None:
    """A home that holds runs, or rows, does not get an empty catalog in silence; what there is stays as it is."""
    Catalog.open(home).close()
    (home.path / kept).mkdir()
    home.catalog.unlink()
    if size is not None:
        home.catalog.touch()
    with pytest.raises(errors.Refused, match=rf"{home.catalog} was lost: it is") as caught:
        Catalog.open(home)
    assert "put a copy of it back" in str(caught.value.hint)
    assert (home.catalog.stat().st_size if home.catalog.exists() else None) == size


def test_a_full_disk_is_noticed_by_writing_nothing_new(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """`require_room` changes nothing where there is room."""
    catalog.require_room()
    with catalog._database.read() as connection:
        connection.execute(text("SELECT 1"))
    full = sqlite3.OperationalError("full")
    full.sqlite_errorname = "SQLITE_FULL"  # type: ignore[misc]
    monkeypatch.setattr(DefaultDialect, "do_commit", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(errors.Exhausted, match="disk is full"):
        catalog.require_room()


DAMAGE = [
    pytest.param("runs", "plan", '{"seed": ', id="torn"),
    pytest.param("runs", "plan", "5", id="no-document"),
    pytest.param("runs", "stated", "{}", id="no-list"),
    pytest.param("runs", "environment", b"\x00\xff", id="other-bytes"),
    pytest.param("runs", "loss", "much", id="no-number"),
    pytest.param("runs", "folder", "CAST(x'ff41' AS TEXT)", id="not-text"),
]


@pytest.mark.parametrize(("table", "column", "value"), DAMAGE)
def test_a_damaged_entry_is_named(home: Home, catalog: Catalog, table: str, column: str, value: object) -> None:
    """Whoever meets it is told the run and the column, and what to do; no other fault comes of it."""
    make_run(catalog, loss=[1.0])
    run = make_run(catalog, loss=[1.0])
    with catalog._database.write() as connection:
        literal = isinstance(value, str) and value.startswith("CAST")
        statement = f"UPDATE {table} SET {column} = {value if literal else ':value'} WHERE run_id = :run"
        connection.execute(text(statement), {"run": run.run_id} | ({} if literal else {"value": value}))
    for act in (catalog.runs, lambda: catalog.run(run.run_id)):
        with pytest.raises(errors.Refused) as caught:
            act()
        assert caught.value.message == (
            f"the catalog {home.catalog} is damaged: {column} of run {run.run_id} cannot be read"
        )
        assert "put a copy of it back" in str(caught.value.hint)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xff" * 40, id="no-message"),
        pytest.param(
            pb.MetricsChunk(columns=[pb.MetricsColumn(name="loss", values=[1.0])]).SerializeToString(), id="odd"
        ),
    ],
)
def test_damaged_curves_are_named(catalog: Catalog, data: bytes) -> None:
    """Reading them, the newest of them, and merging them names the run; other runs' can be read."""
    other, run = (make_run(catalog, loss=[1.0, 2.0]) for _ in range(2))
    with catalog._database.write() as connection:
        chunks = schema.metric_chunks
        connection.execute(update(chunks).where(chunks.c.run_id == run.run_id).values(chunk=data))
    for act in (
        lambda: list(catalog.metrics(run.run_id)),
        lambda: list(catalog.metrics(run.run_id, ("loss",), 1)),
        lambda: catalog.merge_metrics(run.run_id),
    ):
        with pytest.raises(errors.Refused, match=f"curves of run {run.run_id}"):
            act()
    assert list(catalog.metrics(other.run_id))


@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
def test_nothing_is_written_to_a_file_that_is_gone(home: Home, catalog: Catalog, replaced: bool) -> None:
    """A catalog that was removed or replaced under a trainer takes nothing more: it would be lost without a word."""
    content = home.catalog.read_bytes()
    home.catalog.rename(home.catalog.with_name("aside"))
    if replaced:
        home.catalog.write_bytes(content)
    with pytest.raises(errors.Refused, match="replaced while" if replaced else "removed while"):
        catalog.add_workload("triage")
    home.catalog.unlink(missing_ok=True)
    home.catalog.with_name("aside").rename(home.catalog)
    assert catalog.add_workload("triage").name == "triage"
