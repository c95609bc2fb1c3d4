"""Entries that cannot be read: which they are, in words that a user can act on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Table, Text, TypeDecorator, cast, select

from akka_optimize import errors
from akka_optimize.trainer.catalog import schema

HINT = "put a copy of it back, or use another home"
NAMED = {"runs": "run", "datasets": "dataset", "snapshots": "snapshot", "workloads": "workload"}  # by table


def refused(path: Path, what: str) -> errors.Refused:
    """The error that names what cannot be read in the catalog at `path`."""
    return errors.Refused(f"the catalog {path} is damaged: {what} cannot be read", hint=HINT)


def of_curves(run_id: str) -> errors.Refused:
    """The error for a chunk of curves that is none."""
    return errors.Refused(f"the catalog is damaged: the curves of run {run_id} cannot be read", hint=HINT)


def entries(connection: Connection) -> Iterator[str]:
    """Go through all that is text: `plan of run 7d496e82c3a15f04`, for each entry that cannot be read."""
    for table in schema.metadata.sorted_tables:
        of = NAMED.get(table.name, f"an entry of {table.name}")
        for column in table.columns:
            if isinstance(column.type, Text | TypeDecorator):
                for key in _damaged(connection, table, column):
                    yield f"{column.name} of {of} {key}"


def _damaged(connection: Connection, table: Table, column: Column[Any]) -> Iterator[str]:
    key = next(iter(table.primary_key))
    for name, stored in connection.execute(select(cast(key, LargeBinary), cast(column, LargeBinary))):
        try:
            text = None if stored is None else stored.decode()
            if isinstance(column.type, TypeDecorator):
                column.type.process_result_value(text, connection.dialect)
        except (schema.Unreadable, UnicodeDecodeError):
            yield name.decode(errors="backslashreplace")
