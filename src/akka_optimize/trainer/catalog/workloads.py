"""Workloads."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select

from akka_optimize import errors
from akka_optimize.core import texts
from akka_optimize.records import Workload
from akka_optimize.trainer.catalog import datasets, references, schema
from akka_optimize.trainer.catalog.base import Part, next_position
from akka_optimize.trainer.names import check_name, shown

table = schema.workloads
KIND = references.Kind(
    "workload", table.c.workload_id, table.c.name, table.c.workload_id, "akka-optimize training workloads list"
)


class Workloads(Part):
    """The catalog's workloads."""

    def add_workload(self, name: str, *, dataset: str | None = None, grader: str | None = None) -> Workload:
        """Create a workload. Raises Invalid (name, grader), Conflict (name), and as `dataset` does for its dataset."""
        check_name(name, "workload")
        if grader is not None and (wrong := texts.fault("grader", grader)):
            raise errors.Invalid(f"grader: {shown(grader)} {wrong}", field="grader")
        with self._database.write() as connection:
            if connection.execute(select(table.c.name).where(table.c.name == name)).scalar() is not None:
                raise errors.Conflict(f"a workload {name!r} exists already", field="name")
            found = None if dataset is None else references.find(connection, datasets.KIND, dataset)
            workload_id = insert_workload(connection, name, self._now(), dataset=found, grader=grader)
            return _workload(connection, workload_id)

    def workloads(self) -> tuple[Workload, ...]:
        """Every workload, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(_counted().order_by(table.c.position.desc()))
            return tuple(Workload(*row) for row in rows)

    def workload(self, reference: str) -> Workload:
        """One workload by id, name or prefix. Raises Invalid (empty), NotFound, Ambiguous."""
        with self._database.read() as connection:
            return _workload(connection, references.find(connection, KIND, reference))


def insert_workload(
    connection: Connection,
    name: str,
    now: str,
    *,
    workload_id: str | None = None,
    dataset: str | None = None,
    grader: str | None = None,
) -> str:
    """Create a workload, whose name is free, in an open writing transaction; its id. `dataset` is a hash."""
    workload_id = workload_id or secrets.token_hex(8)
    connection.execute(
        insert(table).values(
            workload_id=workload_id,
            position=next_position(connection, table.c.position),
            name=name,
            dataset=dataset,
            grader=grader,
            created_at=now,
        )
    )
    return workload_id


def _workload(connection: Connection, workload_id: str) -> Workload:
    return Workload(*connection.execute(_counted().where(table.c.workload_id == workload_id)).one())


def _counted() -> Select[Any]:
    """Workloads with how many runs each has, in the order of the record's fields."""
    runs = schema.runs
    count = select(func.count()).where(runs.c.workload_id == table.c.workload_id).scalar_subquery()
    return select(
        table.c.workload_id, table.c.name, table.c.dataset, table.c.grader, table.c.created_at, count.label("run_count")
    )
