"""All points of a fan together: found, resolved, counted, and submitted as one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import points
from akka_optimize.core.grid import MOST_BRANCHES
from akka_optimize.records import Branch, Branches, Fan, FanRequest
from akka_optimize.trainer import folder, origins, resolve, start, unfinished
from akka_optimize.trainer.branches import faults
from akka_optimize.trainer.branches.asked import check
from akka_optimize.trainer.branches.children import Child, Children
from akka_optimize.trainer.branches.source import Source
from akka_optimize.trainer.catalog import fans
from akka_optimize.trainer.catalog.new import NewSubmission
from akka_optimize.trainer.names import shown

if TYPE_CHECKING:
    from akka_optimize.records import Run, Snapshot
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home


@dataclass(frozen=True, slots=True)
class Resolved:
    """A fan whose points are all sound.

    `ids` are the children's, in point order; each is that of a run in `fan.children`, or of a child to come in `new`.
    `moved`: names of datasets that had other rows when children that are there were submitted.
    """

    asked: FanRequest
    parent: Run
    snapshot: Snapshot
    submission: NewSubmission
    source: Source
    fan: fans.Fan
    ids: tuple[str, ...]
    new: dict[str, Child]
    moved: tuple[str, ...]


def validate(catalog: Catalog, home: Home, asked: FanRequest) -> Branches:
    """What every point resolves to, and how full the fan would be; nothing is stored.

    Raises Invalid (every fault of every point), NotFound and Ambiguous (parent, snapshot), Refused (snapshot of another
    run, or without what is to be restored; the id of a deleted child; a parent that can have no children), Exhausted
    (no room in the fan), Conflict (the token is bound to something else).
    """
    return _report(_resolved(catalog, home, asked), added={})


def submit(catalog: Catalog, home: Home, asked: FanRequest) -> Branches:
    """The same, and queue the child of every point that has none: all of them, in point order, or none.

    Raises what `validate` raises, Exhausted and Refused (disk), TimedOut (other submissions take too long).
    """
    resolved = _resolved(catalog, home, asked)
    if not resolved.new:
        return _report(resolved, added={})
    with unfinished.alone(catalog, home):
        fan = catalog.fan(resolved.submission)  # another process may have had the same token a moment ago
        new = {id: child for id, child in resolved.new.items() if id not in fan.children}
        resolved = replace(resolved, fan=fan, new=new)
        added = _submitted(catalog, home, resolved) if new else {}
    return _report(resolved, added)


def _submitted(catalog: Catalog, home: Home, resolved: Resolved) -> dict[str, Run]:
    children = resolved.new.values()
    origin = resolved.asked.origin
    folders = [start.new_folder(home, child.request, child.new, origin) for child in children]
    with folder.made(catalog, home, folders):
        added = catalog.add_children(resolved.submission, [child.new for child in children])
    return {run.run_id: run for run in added}


def _resolved(catalog: Catalog, home: Home, asked: FanRequest) -> Resolved:
    check(asked)
    origins.check(asked.origin)
    with resolve.at("parent"):
        parent = catalog.run(asked.parent)
    snapshot = catalog.source(parent.run_id, asked.snapshot)
    submission = NewSubmission(
        submission_id=asked.submission_id,
        parent_run_id=parent.run_id,
        snapshot_id=snapshot.snapshot_id,
        steps=asked.steps,
        restore=asked.restore,
    )
    fan = catalog.fan(submission)
    source = Source(home, parent, snapshot, asked.restore)
    found = faults.of_points(asked.points, asked.restore, continues=asked.continues)
    ids = {
        index: points.child_run_id(asked.submission_id, changes)
        for index, changes in enumerate(asked.points)
        if index not in found
    }
    unborn = [index for index, id in ids.items() if id not in fan.children]
    children = Children(catalog, home, source, asked) if unborn else None
    new = {}
    for index in unborn:
        assert children is not None
        try:
            new[ids[index]] = children.child(asked.points[index])
        except faults.OF_POINT as error:
            found[index] = (faults.refused(asked.points[index], error),)
    faults.require_none(asked.points, found)
    _require_apart(new)
    fans.require_unspent(fan, new)
    fans.require_room(fan, len(new), snapshot.snapshot_id)
    moved = tuple(_moved(catalog, [run for id in ids.values() if (run := fan.children.get(id)) is not None]))
    return Resolved(asked, parent, snapshot, submission, source, fan, tuple(ids.values()), new, moved)


def _moved(catalog: Catalog, there: list[Run]) -> Iterator[str]:
    """The datasets that points name and that are other rows by now than those their children have."""
    named = {(name, run.dataset) for run in there if (name := (run.changes or {}).get("dataset")) is not None}
    for name, rows in sorted(named):
        with suppress(errors.NotFound, errors.Ambiguous):
            if catalog.dataset(name).hash != rows:
                yield name


def _require_apart(new: dict[str, Child]) -> None:
    """Raise Invalid when two points come to one plan, as one dataset under two names makes them."""
    labels: dict[str, str | None] = {}
    for child in new.values():
        earlier = labels.setdefault(child.new.config_hash, child.new.config_name)
        if earlier != child.new.config_name:
            raise errors.Invalid(
                f"the points {earlier!r} and {child.new.config_name!r} come to one plan, {child.new.config_hash}",
                hint="give each dataset one name on the axis",
            )


def _report(resolved: Resolved, added: dict[str, Run]) -> Branches:
    asked, fan = resolved.asked, resolved.fan
    branches = []
    for index, id in enumerate(resolved.ids):
        run = fan.children.get(id)
        if run is not None:
            branches.append(_there(index, run, resolved.source))
        else:
            branches.append(_to_come(index, resolved.new[id], added.get(id)))
    return Branches(
        parent_run_id=resolved.parent.run_id,
        snapshot_id=resolved.snapshot.snapshot_id,
        restore=asked.restore,
        steps=asked.steps,
        submission_id=asked.submission_id,
        points=tuple(branches),
        fan=Fan(fan.existing, len(resolved.new), fan.existing + len(resolved.new), MOST_BRANCHES),
        notes=tuple(dict.fromkeys(_notes(resolved))),
    )


def _there(index: int, run: Run, source: Source) -> Branch:
    changes = run.changes or {}
    return Branch(
        index=index,
        label=points.label(changes),
        changes=changes,
        child_run_id=run.run_id,
        existing=True,
        config_hash=run.config_hash,
        config=run.config,
        execution=run.execution,
        phase=run.phase,
        resumable=run.resumable,
        restore_error=source.error_of_existing(run.config["hyperparams"]["lora"]["rank"]),
    )


def _to_come(index: int, child: Child, run: Run | None) -> Branch:
    changes = child.new.changes or {}
    return Branch(
        index=index,
        label=points.label(changes),
        changes=changes,
        child_run_id=child.new.run_id,
        existing=False,
        config_hash=child.new.config_hash,
        config=child.new.config,
        execution=child.new.execution,
        phase=None if run is None else run.phase,
        resumable=False,
        restore_error=child.restore_error,
    )


def _notes(resolved: Resolved) -> Iterator[str]:
    for child in resolved.new.values():
        yield from child.request.run.notes
    for name in resolved.moved:
        yield f"dataset {shown(name)} has other rows by now; child runs that are there keep those they had"
    if (wanted := resolved.asked.description) is not None:
        there = [run for id in resolved.ids if (run := resolved.fan.children.get(id)) is not None]
        kept = sum(run.description != wanted for run in there)
        if kept:
            runs = "1 child run keeps the description" if kept == 1 else f"{kept} child runs keep the descriptions"
            yield f"a description is for new child runs: {runs} given before"
