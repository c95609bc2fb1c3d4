"""Runs that the catalog forgets."""

from __future__ import annotations

import sqlite3

import pytest
from support import parents
from support.catalog import make_run, new_run

from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home


def test_nothing_of_a_deleted_run_is_left(home: Home, catalog: Catalog) -> None:
    """No row of any table has its id but the one that keeps the id spent."""
    snapshot = parents.saved(catalog, make_run(catalog, loss=[3.0, 2.0, 1.0]).run_id)
    assert catalog.delete_run(snapshot.run_id).run_id == snapshot.run_id
    with pytest.raises(errors.NotFound):
        catalog.run(snapshot.run_id)
    with sqlite3.connect(home.catalog) as database:
        named = [line for line in database.iterdump() if snapshot.run_id in line]
    assert len(named) == 1
    assert "deleted_runs" in named[0]


@pytest.mark.parametrize("phase", ["QUEUED", "PREPARING", "TRAINING", "PAUSED"])
def test_a_run_that_has_not_ended_stays(catalog: Catalog, phase) -> None:
    """Only an end makes a run deletable."""
    run = catalog.add_run(new_run(catalog))
    catalog.set_phase(run.run_id, phase, only_from=("QUEUED",))
    for method in (catalog.require_deletable, catalog.delete_run):
        with pytest.raises(errors.Refused, match=f"is {phase}, and only"):
            method(run.run_id)
    assert catalog.run(run.run_id).phase == phase


@pytest.mark.parametrize("phase", ["COMPLETED", "FAILED", "CANCELLED"])
def test_a_run_that_has_ended_goes(catalog: Catalog, phase) -> None:
    """However it ended."""
    run = catalog.add_run(new_run(catalog))
    catalog.set_phase(run.run_id, phase, only_from=("QUEUED",))
    catalog.require_deletable(run.run_id)
    assert catalog.delete_run(run.run_id).phase == phase
    assert catalog.runs().total == 0


def test_a_parent_stays_while_it_has_children(catalog: Catalog) -> None:
    """In any phase; once the last one is gone, so may the parent be."""
    snapshot = parents.listed(catalog)
    (child,) = parents.children(catalog, parents.submission(snapshot))
    with pytest.raises(errors.Refused, match="has 1 child run, which"):
        catalog.delete_run(snapshot.run_id)
    catalog.request_cancel(child.run_id)
    with pytest.raises(errors.Refused, match="has 1 child run, which"):
        catalog.delete_run(snapshot.run_id)
    catalog.delete_run(child.run_id)
    catalog.delete_run(snapshot.run_id)


def test_a_run_stays_while_a_snapshot_is_pinned(catalog: Catalog) -> None:
    """The message names the pin that is to be let go of."""
    snapshot = parents.listed(catalog)
    catalog.pin(snapshot.snapshot_id, ["weights"])
    with pytest.raises(errors.Refused, match=f"{snapshot.snapshot_id[:16]} .* is pinned") as caught:
        catalog.delete_run(snapshot.run_id)
    assert f"unpin {snapshot.snapshot_id[:16]}" in (caught.value.hint or "")
    catalog.unpin(snapshot.snapshot_id)
    catalog.delete_run(snapshot.run_id)


def test_who_is_not_there_cannot_be_deleted(catalog: Catalog) -> None:
    """Nor a second time."""
    run_id = parents.listed(catalog).run_id
    catalog.delete_run(run_id)
    with pytest.raises(errors.NotFound):
        catalog.delete_run(run_id)
