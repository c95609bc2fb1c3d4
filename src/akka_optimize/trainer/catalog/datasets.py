"""Datasets and the names that point at them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, Row, delete, insert, select

from akka_optimize import errors
from akka_optimize.records import Dataset
from akka_optimize.trainer.catalog import references, schema
from akka_optimize.trainer.catalog.base import Part, next_position, time_text
from akka_optimize.trainer.datasets import FORMAT_VERSION, Stored
from akka_optimize.trainer.names import check_name
from akka_optimize.trainer.uploads import STALE_SECONDS, Upload

table, names, finished = schema.datasets, schema.dataset_names, schema.uploads
KIND = references.Kind("dataset", table.c.hash, names.c.name, names.c.hash, "akka-optimize datasets list")


class Datasets(Part):
    """The catalog's datasets."""

    def add_dataset(
        self,
        hash: str,
        *,
        example_count: int,
        size_bytes: int,
        findings: Sequence[str] = (),
        name: str | None = None,
        upload: Upload | None = None,
    ) -> Dataset:
        """Register stored rows, and name them; rows that are registered already are only named.

        An `upload` is remembered for a day with what became of it; one that is remembered already changes nothing.
        Raises Invalid (name), Conflict (the upload was registered in another way).
        """
        if name is not None:
            check_name(name, "dataset")
        with self._database.write() as connection:
            if upload is not None and (there := _registered(connection, upload, name)) is not None:
                return there
            stored = Stored(hash, example_count, size_bytes, tuple(findings))
            insert_rows(connection, stored, self._now())
            if name is not None:
                _move_name(connection, name, hash)
            if upload is not None:
                _remember(connection, upload, hash, name, self._now())
            return _dataset(connection, hash)

    def registered(self, upload: Upload, *, name: str | None) -> Dataset | None:
        """What an upload became in the last day, if it did. Raises Conflict (with other bytes, or another name)."""
        with self._database.read() as connection:
            return _registered(connection, upload, name)

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


def insert_rows(connection: Connection, stored: Stored, now: str) -> None:
    """List rows that are in their place, unless they are listed already; in an open writing transaction."""
    if connection.execute(select(table.c.hash).where(table.c.hash == stored.hash)).scalar() is None:
        connection.execute(
            insert(table).values(
                hash=stored.hash,
                position=next_position(connection, table.c.position),
                example_count=stored.example_count,
                size_bytes=stored.size_bytes,
                format_version=FORMAT_VERSION,
                findings=list(stored.findings),
                created_at=now,
            )
        )


def name_if_free(connection: Connection, name: str, hash: str) -> str:
    """Let a free `name` point at a dataset; the hash that it points at then, which is another's where it was taken."""
    taken: str | None = connection.execute(select(names.c.hash).where(names.c.name == name)).scalar()
    if taken is None:
        _move_name(connection, name, hash)
    return taken or hash


def _move_name(connection: Connection, name: str, hash: str) -> None:
    connection.execute(delete(names).where(names.c.name == name))
    connection.execute(insert(names).values(name=name, hash=hash))


def _registered(connection: Connection, upload: Upload, name: str | None) -> Dataset | None:
    found = connection.execute(select(finished).where(finished.c.upload_id == upload.upload_id)).one_or_none()
    if found is None:
        return None
    for what, theirs, ours in (("sha256", found.sha256, upload.sha256), ("name", found.name, name)):
        if theirs != ours:
            raise errors.Conflict(
                f"upload {upload.upload_id} became dataset {found.dataset[:12]} with {what} {theirs or 'none'} "
                f"instead of {ours or 'none'}",
                field=what,
                hint="`akka-optimize datasets name` gives it another name"
                if what == "name"
                else "upload the rows again",
            )
    return _dataset(connection, found.dataset)


def _remember(connection: Connection, upload: Upload, hash: str, name: str | None, now: str) -> None:
    """Note what an upload became, and forget those of earlier days."""
    oldest = datetime.fromisoformat(now) - timedelta(seconds=STALE_SECONDS)
    connection.execute(delete(finished).where(finished.c.finished_at < time_text(oldest)))
    connection.execute(
        insert(finished).values(
            upload_id=upload.upload_id, sha256=upload.sha256, dataset=hash, name=name, finished_at=now
        )
    )


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
