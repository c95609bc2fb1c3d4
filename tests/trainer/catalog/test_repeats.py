"""What the catalog keeps of repeats: all or none, once, and apart from what a token stands for otherwise."""

from __future__ import annotations

import pytest
from support import parents
from support.catalog import make_run, new_run

from akka_optimize import errors

IDS = ("aaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaa0")


@pytest.fixture
def repeated(catalog):
    """A run that has ended."""
    return make_run(catalog, loss=[1.0])


def new(catalog, run, ids=IDS, token="token", **stated):
    """Repeats to submit."""
    return [new_run(catalog, run_id=id, submission_id=token, repeats=run.run_id, **stated) for id in ids]


def test_repeats_are_queued_in_order(catalog, repeated):
    """And come back in the order of their ids, whichever way they are asked for."""
    added = catalog.add_repeats(repeated.run_id, new(catalog, repeated))
    assert [run.run_id for run in added] == list(IDS)
    assert [run.run_id for run in catalog.repeats("token", repeated.run_id, IDS)] == list(IDS)
    assert [run.run_id for run in catalog.runs(phase="QUEUED").items] == list(reversed(IDS))


def test_a_fresh_token_has_none(catalog, repeated):
    """Nothing is said of it."""
    assert catalog.repeats("token", repeated.run_id, IDS) == ()


def test_the_second_of_two_submissions_reaches_the_first(catalog, repeated):
    """Where another process was faster: nothing is inserted twice."""
    wanted = new(catalog, repeated)
    assert catalog.add_repeats(repeated.run_id, wanted) == catalog.add_repeats(repeated.run_id, wanted)


def test_a_run_that_is_gone_cannot_be_repeated(catalog, repeated):
    """It was deleted between the look and the submission."""
    wanted = new(catalog, repeated)
    catalog.delete_run(repeated.run_id)
    with pytest.raises(errors.NotFound):
        catalog.add_repeats(repeated.run_id, wanted)
    assert catalog.runs().total == 0


def test_the_token_of_a_fan_is_refused(catalog):
    """It stands for children, though all of them may be deleted by now."""
    bound = parents.submission(parents.listed(catalog))
    (child,) = parents.children(catalog, bound)
    for gone in (False, True):
        if gone:
            catalog.request_cancel(child.run_id)
            catalog.delete_run(child.run_id)
        with pytest.raises(errors.Conflict, match="token"):
            catalog.repeats("token", bound.parent_run_id, IDS)


def test_the_last_place_of_a_fan_is_given_once(catalog):
    """The count is taken again inside the transaction that submits."""
    snapshot = parents.listed(catalog)
    bound = parents.submission(snapshot)
    child, *_ = parents.children(catalog, bound, 49)
    lineage = {"parent_run_id": child.parent_run_id, "source_snapshot_id": snapshot.snapshot_id, "restore": "weights"}
    with pytest.raises(errors.Exhausted, match="2 more make 51"):
        catalog.add_repeats(child.run_id, new(catalog, child, token="other", **lineage))
    assert len(catalog.add_repeats(child.run_id, new(catalog, child, IDS[:1], "other", **lineage))) == 1
    with pytest.raises(errors.Exhausted, match="1 more make 51"):
        catalog.add_repeats(child.run_id, new(catalog, child, IDS[1:], "third", **lineage))
