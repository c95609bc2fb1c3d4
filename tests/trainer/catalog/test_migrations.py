"""How a catalog is made, brought up to date, and refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Connection, Inspector, MetaData, create_engine, inspect
from sqlalchemy.dialects import postgresql
from support import processes

from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog, migrations, schema
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.uploads import Upload

OPEN = """
import sys
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
sys.stdin.readline()
with Catalog.open(Home.open(sys.argv[1])) as catalog:
    print(catalog.add_workload(sys.argv[2]).name)
"""
LATER = "CREATE TABLE later (id INTEGER NOT NULL PRIMARY KEY)"


def described(path: Path) -> dict[str, object]:
    """Every table of a database: its columns, indexes, keys and references."""
    engine = create_engine(f"sqlite:///{path}")
    found = inspect(engine)
    tables = {
        table: {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"], column["primary_key"])
                for column in found.get_columns(table)
            },
            "indexes": {
                (index["name"], tuple(index["column_names"]), bool(index["unique"]))
                for index in found.get_indexes(table)
            },
            "unique": {tuple(rule["column_names"]) for rule in found.get_unique_constraints(table)},
            "references": {
                (tuple(key["constrained_columns"]), key["referred_table"]) for key in found.get_foreign_keys(table)
            },
        }
        for table in found.get_table_names()
    }
    engine.dispose()
    return tables


def test_the_steps_make_the_schema(home: Home, tmp_path: Path) -> None:
    """The written steps end at exactly the tables that the queries are written for."""
    Catalog.open(home).close()
    engine = create_engine(f"sqlite:///{tmp_path}/schema.sqlite")
    schema.metadata.create_all(engine)
    engine.dispose()
    assert described(home.catalog) == described(tmp_path / "schema.sqlite")


def test_the_steps_are_recorded(home: Home, catalog: Catalog) -> None:
    """The catalog itself says which steps it has seen."""
    with sqlite3.connect(home.catalog) as database:
        versions = database.execute("SELECT version FROM catalog_versions ORDER BY version").fetchall()
    assert versions == [(number,) for number in range(1, len(migrations.STEPS) + 1)]


def test_a_fresh_catalog_has_nothing_to_say(catalog: Catalog) -> None:
    """Making a catalog is no migration to tell of."""
    assert catalog.notes == ()


def test_an_older_catalog_is_brought_up_to_date(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that the catalog has not seen is applied once, said once, and loses nothing."""
    with Catalog.open(home) as catalog:
        catalog.add_workload("triage")
    known = len(migrations.STEPS)
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, (LATER,)))
    with Catalog.open(home) as catalog:
        assert catalog.notes == (f"the catalog was brought from version {known} to {known + 1}",)
        assert catalog.workload("triage").name == "triage"
    with Catalog.open(home) as catalog:
        assert catalog.notes == ()


@pytest.mark.parametrize("version", range(1, len(migrations.STEPS)))
def test_every_earlier_version_becomes_todays(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """The tables of each version that was released, with what is in them, become those of today."""
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "STEPS", migrations.STEPS[:version])
        with Catalog.open(home) as catalog:
            made = catalog.add_dataset("a" * 64, example_count=1, size_bytes=2, name="rows")
            catalog.add_workload("triage", dataset="rows")
    with Catalog.open(home) as catalog:
        assert catalog.notes == (f"the catalog was brought from version {version} to {len(migrations.STEPS)}",)
        assert catalog.dataset("rows") == made
        assert catalog.workload("triage").dataset == made.hash
        upload = Upload("0" * 32, "f" * 64)
        assert catalog.registered(upload, name=None) is None
        catalog.add_dataset(made.hash, example_count=1, size_bytes=2, upload=upload)
        assert catalog.registered(upload, name=None) == made
    engine = create_engine(f"sqlite:///{tmp_path}/schema.sqlite")
    schema.metadata.create_all(engine)
    engine.dispose()
    assert described(home.catalog) == described(tmp_path / "schema.sqlite")


def test_a_step_is_applied_whole_or_not_at_all(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that fails in its middle leaves the catalog as it was."""
    Catalog.open(home).close()
    before = described(home.catalog)
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, (LATER, "CREATE NONSENSE")))
    with pytest.raises(errors.Internal, match="NONSENSE"):
        Catalog.open(home)
    assert described(home.catalog) == before


def test_a_newer_catalog_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog of a later version is left alone, and the message says both versions."""
    known = len(migrations.STEPS)
    with monkeypatch.context() as later:
        later.setattr(migrations, "STEPS", (*migrations.STEPS, (LATER,)))
        Catalog.open(home).close()
    with pytest.raises(errors.Refused, match=f"version {known + 1}, .* up to {known}"):
        Catalog.open(home)


def test_many_processes_open_a_fresh_home(home: Home) -> None:
    """Processes that find no catalog at the same moment all get the same one."""
    started = [processes.start(OPEN, home.path, f"triage-{number}") for number in range(5)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [processes.output(process).strip() for process in started] == [f"triage-{number}" for number in range(5)]
    with Catalog.open(home) as catalog:
        assert len(catalog.workloads()) == 5


def test_a_catalog_may_appear_while_another_looks(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks at an empty file another process may have made every table: they are found."""
    looked = migrations.inspect

    def slowly(connection: Connection) -> Inspector:
        with monkeypatch.context() as other:
            other.setattr(migrations, "inspect", looked)
            Catalog.open(home).close()
        return looked(connection)

    monkeypatch.setattr(migrations, "inspect", slowly)
    with Catalog.open(home) as catalog:
        assert catalog.notes == ()
        assert catalog.workloads() == ()


def test_the_schema_is_not_sqlites_own() -> None:
    """The same tables can be written down for PostgreSQL."""
    assert isinstance(schema.metadata, MetaData)
    for table in schema.metadata.sorted_tables:
        for column in table.columns:
            assert column.type.compile(dialect=postgresql.dialect())
