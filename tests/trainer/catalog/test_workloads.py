"""Workloads in the catalog."""

from __future__ import annotations

import re

import pytest
from support.catalog import make_dataset, make_run

from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog


def test_a_workload_is_kept_whole(catalog: Catalog) -> None:
    """What was asked for is kept; its dataset by hash, however it was called."""
    hash = make_dataset(catalog, name="evaluation").hash
    added = catalog.add_workload("triage", dataset="evaluation", grader="json-label-match")
    assert re.fullmatch("[0-9a-f]{16}", added.workload_id)
    assert (added.name, added.dataset, added.grader, added.run_count) == ("triage", hash, "json-label-match", 0)
    assert catalog.workload("triage") == catalog.workload(added.workload_id) == catalog.workload(added.workload_id[:7])


def test_runs_are_counted(catalog: Catalog) -> None:
    """Each workload counts its own runs, whatever their phase; the newest workload is listed first."""
    other = catalog.add_workload("other")
    make_run(catalog, phase="FAILED")
    make_run(catalog)
    make_run(catalog, workload_id=other.workload_id)
    counts = [(workload.name, workload.run_count) for workload in catalog.workloads()]
    assert counts == [("support-triage", 2), ("other", 1)]


@pytest.mark.parametrize(
    ("name", "settings", "kind", "field"),
    [
        pytest.param("triage", {}, errors.Conflict, "name", id="taken"),
        pytest.param("Triage", {}, errors.Invalid, "name", id="bad-name"),
        pytest.param("0123456789", {}, errors.Invalid, "name", id="name-like-an-id"),
        pytest.param("other", {"dataset": "nothing"}, errors.NotFound, "dataset", id="unknown-dataset"),
        pytest.param("other", {"dataset": ""}, errors.Invalid, "dataset", id="empty-dataset"),
        pytest.param("other", {"grader": "exact-match"}, errors.Invalid, "grader", id="unknown-grader"),
    ],
)
def test_a_bad_workload_is_not_kept(
    catalog: Catalog, name: str, settings: dict[str, str], kind: type[errors.AkkaError], field: str
) -> None:
    """A workload that cannot be is refused with the field named, and none is created."""
    before = catalog.add_workload("triage")
    with pytest.raises(kind) as caught:
        catalog.add_workload(name, **settings)
    assert caught.value.field == field
    assert catalog.workloads() == (before,)
