"""Datasets and the names that point at them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Row, delete, insert, select

from akka_optimize.records import Dataset
from akka_optimize.trainer.catalog import references, schema
from akka_optimize.trainer.catalog.base import Part, next_position
from akka_optimize.trainer.datasets import FORMAT_VERSION
from akka_optimize.trainer.names import check_name

table, names = schema.datasets, schema.dataset_names
KIND = references.Kind("dataset", table.c.hash, names.c.name, names.c.hash, "akka-optimize datasets list")


class Datasets(Part):
    """The catalog's datasets."""

    def add_dataset(
        self, hash: str, *, example_count: int, size_bytes: int, findings: Sequence[str] = (), name: str | None = None
    ) -> Dataset:
        """Register stored rows, and name them; rows that are registered already are only named.

        Raises Invalid (name).
        """
        if name is not None:
            check_name(name, "dataset")
        with self._database.write() as connection:
            if connection.execute(select(table.c.hash).where(table.c.hash == hash)).scalar() is None:
                connection.execute(
                    insert(table).values(
                        hash=hash,
                        position=next_position(connection, table.c.position),
                        example_count=example_count,
                        size_bytes=size_bytes,
                        format_version=FORMAT_VERSION,
                        findings=list(findings),
                        created_at=self._now(),
                    )
                )
            if name is not None:
                _move_name(connection, name, hash)
            return _dataset(connection, hash)

    def datasets(self) -> tuple[Dataset, ...]:
        """Every dataset, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(select(table).order_by(table.c.position.desc())).all()
            owned: dict[str, list[str]] = {}
            for name, hash in connection.execute(select(names.c.name, names.c.hash)):
                owned.setdefault(hash, []).append(name)
        return tuple(_record(row, owned.get(row.hash, ())) for row in rows)

    def dataset(self, reference: str) -> Dataset:
        """One dataset by hash, name or prefix. Raises Invalid (empty), NotFound, Ambiguous."""
        with self._database.read() as connection:
            return _dataset(connection, references.find(connection, KIND, reference))

    def name_dataset(self, name: str, reference: str) -> Dataset:
        """Let `name` point at a dataset, wherever it pointed before. Raises Invalid (name), NotFound, Ambiguous."""
        check_name(name, "dataset")
        with self._database.write() as connection:
            hash = references.find(connection, KIND, reference)
            _move_name(connection, name, hash)
            return _dataset(connection, hash)


def _move_name(connection: Connection, name: str, hash: str) -> None:
    connection.execute(delete(names).where(names.c.name == name))
    connection.execute(insert(names).values(name=name, hash=hash))


def _dataset(connection: Connection, hash: str) -> Dataset:
    row = connection.execute(select(table).where(table.c.hash == hash)).one()
    return _record(row, connection.execute(select(names.c.name).where(names.c.hash == hash)).scalars().all())


def _record(row: Row[tuple[object, ...]], owned: Sequence[str]) -> Dataset:
    return Dataset(
        hash=row.hash,
        names=tuple(sorted(owned)),
        example_count=row.example_count,
        size_bytes=row.size_bytes,
        format_version=row.format_version,
        findings=tuple(row.findings),
        created_at=row.created_at,
    )
