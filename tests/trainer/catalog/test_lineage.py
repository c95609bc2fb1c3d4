"""Parents and children, looked up from either end."""

from __future__ import annotations

import random

import pytest
from support import parents

from akka_optimize import errors
from akka_optimize.records import Run
from akka_optimize.trainer.catalog import Catalog

SHAPE = {"root": {"a": {"aa": {"aaa": {}}, "ab": {}}, "b": {}, "c": {"ca": {}}}, "apart": {"x": {}}}


def ids(page) -> list[str]:
    """The runs on a page."""
    return [run.run_id for run in page.items]


def grow(catalog: Catalog, above: Run, shape: dict) -> None:
    """Below a run, runs whose names are the keys of nested mappings, each a child of the one it is in."""
    for step, (name, below) in enumerate(shape.items(), start=20):
        bound = parents.submission(parents.saved(catalog, above.run_id, step), token=name)
        (run,) = catalog.add_children(bound, [parents.child(catalog, bound, name=name)])
        grow(catalog, run, below)


@pytest.fixture
def tree(catalog: Catalog) -> None:
    """Two families."""
    roots = [catalog.run(parents.listed(catalog, name=name).run_id) for name in SHAPE]
    for root, below in zip(roots, SHAPE.values(), strict=True):
        grow(catalog, root, below)


def test_children_come_newest_first_in_pages(catalog: Catalog) -> None:
    """A page tells how many there are in all; the children are those of this run alone."""
    snapshot, other = parents.listed(catalog), parents.listed(catalog)
    made = parents.children(catalog, parents.submission(snapshot), 5)
    parents.children(catalog, parents.submission(other, "other"), 2)
    page = catalog.branches(snapshot.run_id, limit=2, offset=1)
    assert ids(page) == [made[3].run_id, made[2].run_id]
    assert (page.total, page.offset) == (5, 1)


def test_a_submission_has_its_own_children(catalog: Catalog) -> None:
    """Two fans from one snapshot are told apart by their tokens, with or without the parent."""
    snapshot = parents.listed(catalog)
    first = parents.children(catalog, parents.submission(snapshot, "first"), 2)
    parents.children(catalog, parents.submission(snapshot, "second"), 3)
    wanted = [first[1].run_id, first[0].run_id]
    assert ids(catalog.branches(submission_id="first")) == wanted
    assert ids(catalog.branches(snapshot.run_id, submission_id="first")) == wanted
    assert catalog.branches(snapshot.run_id).total == 5


def test_a_run_without_children_has_an_empty_page(catalog: Catalog) -> None:
    """No children is an answer and no error."""
    assert catalog.branches(parents.listed(catalog).run_id).total == 0


@pytest.mark.parametrize(
    ("asked", "error", "field"),
    [
        pytest.param({}, errors.Invalid, "parent", id="neither"),
        pytest.param({"parent": "nobody"}, errors.NotFound, "run", id="unknown-run"),
        pytest.param({"submission_id": "nothing"}, errors.NotFound, "submissionId", id="unknown-submission"),
        pytest.param({"parent": "root", "limit": 0}, errors.Invalid, "limit", id="empty-page"),
    ],
)
def test_what_cannot_be_listed(catalog: Catalog, asked, error, field) -> None:
    """Whose children is asked for has to be known, and a page has room."""
    parents.listed(catalog, name="root")
    with pytest.raises(error) as caught:
        catalog.branches(**asked)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("depth", "names"),
    [
        pytest.param(0, "root a aa aaa ab b c ca", id="all"),
        pytest.param(1, "root a b c", id="children"),
        pytest.param(2, "root a aa ab b c ca", id="grandchildren"),
        pytest.param(99, "root a aa aaa ab b c ca", id="deeper-than-it-goes"),
    ],
)
def test_descendants_follow_their_parents(tree, catalog: Catalog, depth: int, names: str) -> None:
    """Depth first, siblings in the order of their submission, as far down as is asked."""
    found = catalog.descendants("root", depth=depth)
    assert [run.name for run in found.items] == names.split()
    assert found.total == len(found.items)


def test_a_parent_comes_before_its_children_however_they_were_submitted(catalog: Catalog) -> None:
    """The order holds for trees that grew at random, too, and every run is there once."""
    chance = random.Random(7)
    runs = [catalog.run(parents.listed(catalog).run_id)]
    for number in range(40):
        bound = parents.submission(parents.saved(catalog, chance.choice(runs).run_id, step=number), f"token-{number}")
        runs += parents.children(catalog, bound)
    found = ids(catalog.descendants(runs[0].run_id))
    assert sorted(found) == sorted(run.run_id for run in runs)
    for run in runs[1:]:
        assert found.index(run.parent_run_id) < found.index(run.run_id)


def test_a_negative_depth_is_refused(catalog: Catalog) -> None:
    """A depth counts generations."""
    with pytest.raises(errors.Invalid, match="depth"):
        catalog.descendants(parents.listed(catalog).run_id, depth=-1)


def test_ancestry_begins_at_the_root(tree, catalog: Catalog) -> None:
    """Every ancestor once, the run itself last; a root's chain is the root."""
    assert [run.name for run in catalog.ancestry("aaa").items] == ["root", "a", "aa", "aaa"]
    assert [run.name for run in catalog.ancestry("root").items] == ["root"]


def test_a_child_says_where_it_comes_from(catalog: Catalog) -> None:
    """Parent, snapshot, update, restore and changes are part of the run; a run without a parent has none of them."""
    snapshot = parents.listed(catalog, name="root")
    (child,) = parents.children(catalog, parents.submission(snapshot))
    assert (child.parent_run_id, child.source_snapshot_id) == (snapshot.run_id, snapshot.snapshot_id)
    assert (child.source_step, child.restore, child.changes) == (10, "weights", {parents.RATE: 1e-5})
    root = catalog.run("root")
    assert (root.parent_run_id, root.source_snapshot_id, root.restore, root.changes) == (None,) * 4
