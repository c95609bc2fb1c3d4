"""Who needs a snapshot to stay: children that started from it, in any phase until they are deleted, and pins.

A child holds the weights, which its plan names, and the artifact that it restored. Holds are never stored, but follow
from what is, so that none can be forgotten or left over.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from akka_optimize.trainer.catalog import schema

KINDS = ("weights", "trainingState")
PIN = "pin"


def holders(connection: Connection, snapshot_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """For each snapshot the ids of its children, oldest first, and `pin` where it is pinned."""
    runs, pins = schema.runs, schema.pins
    held: dict[str, tuple[str, ...]] = dict.fromkeys(snapshot_ids, ())
    children = (
        select(runs.c.source_snapshot_id, runs.c.run_id)
        .where(runs.c.source_snapshot_id.in_(snapshot_ids))
        .order_by(runs.c.position)
    )
    pinned = select(pins.c.snapshot_id).where(pins.c.snapshot_id.in_(snapshot_ids)).distinct()
    for snapshot_id, run_id in connection.execute(children):
        held[snapshot_id] += (run_id,)
    for snapshot_id in connection.execute(pinned).scalars():
        held[snapshot_id] += (PIN,)
    return held


def held_kinds(connection: Connection, snapshot_id: str) -> frozenset[str]:
    """The kinds of artifact that a child or a pin holds; ask inside the transaction that sweeps."""
    runs, pins = schema.runs, schema.pins
    restored = select(runs.c.restore).where(runs.c.source_snapshot_id == snapshot_id).distinct()
    pinned = select(pins.c.kind).where(pins.c.snapshot_id == snapshot_id)
    by_children = {kind for restore in connection.execute(restored).scalars() for kind in ("weights", restore)}
    return frozenset(by_children | set(connection.execute(pinned).scalars()))
