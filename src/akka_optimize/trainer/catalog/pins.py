"""Looking at one snapshot, and holding it against sweeping."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, insert, select

from akka_optimize import errors
from akka_optimize.records import Snapshot
from akka_optimize.trainer.catalog import holds, references, schema, snapshots
from akka_optimize.trainer.catalog.base import Part
from akka_optimize.trainer.names import shown

table = schema.pins
of = schema.snapshots
KIND = references.snapshots(of.c.snapshot_id)


class Pins(Part):
    """The catalog's pins."""

    def snapshot(self, reference: str) -> Snapshot:
        """One snapshot by id or prefix, with who holds it. Raises Invalid (empty), NotFound, Ambiguous."""
        with self._database.read() as connection:
            return snapshot_of(connection, references.find(connection, KIND, reference))

    def pin(self, reference: str, kinds: Collection[str] = ()) -> Snapshot:
        """Hold these artifacts of a snapshot, or all that are there when none is named; a second time changes nothing.

        Raises Invalid (kind), Refused (swept), and as `snapshot` does.
        """
        _check(kinds)
        with self._database.write() as connection:
            found = snapshot_of(connection, references.find(connection, KIND, reference))
            there = [artifact.kind for artifact in found.artifacts if not artifact.swept]
            wanted = set(kinds or there or holds.KINDS)
            if gone := sorted(wanted.difference(there)):
                raise errors.Refused(
                    f"snapshot {found.snapshot_id[:16]} has no {' and no '.join(gone)} any more", field="kinds"
                )
            now = self._now()
            for kind in sorted(wanted - _pinned(connection, found.snapshot_id)):
                connection.execute(insert(table).values(snapshot_id=found.snapshot_id, kind=kind, created_at=now))
            return snapshot_of(connection, found.snapshot_id)

    def unpin(self, reference: str, kinds: Collection[str] = ()) -> Snapshot:
        """Let go of these artifacts, or of all that are pinned when none is named.

        Raises Invalid (kind), Refused (not pinned), and as `snapshot` does.
        """
        _check(kinds)
        with self._database.write() as connection:
            snapshot_id = references.find(connection, KIND, reference)
            held = _pinned(connection, snapshot_id)
            if loose := [kind for kind in kinds if kind not in held] or ([] if held else ["artifact"]):
                raise errors.Refused(
                    f"snapshot {snapshot_id[:16]}: no {' and no '.join(loose)} is pinned", field="kinds"
                )
            of_snapshot = table.c.snapshot_id == snapshot_id
            connection.execute(delete(table).where(of_snapshot, table.c.kind.in_(set(kinds) or held)))
            return snapshot_of(connection, snapshot_id)


def snapshot_of(connection: Connection, snapshot_id: str) -> Snapshot:
    """The snapshot with exactly this id, with who holds it."""
    row = connection.execute(select(of).where(of.c.snapshot_id == snapshot_id)).one()
    held = holds.holders(connection, [snapshot_id])[snapshot_id]
    return snapshots.record(row, snapshots.best(connection, row.run_id), held)


def _pinned(connection: Connection, snapshot_id: str) -> set[str]:
    return set(connection.execute(select(table.c.kind).where(table.c.snapshot_id == snapshot_id)).scalars())


def _check(kinds: Collection[str]) -> None:
    for kind in kinds:
        if kind not in holds.KINDS:
            raise errors.Invalid(f"{shown(kind)} is no artifact; use {' or '.join(holds.KINDS)}", field="kinds")
