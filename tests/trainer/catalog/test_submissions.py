"""Fans in the catalog: one transaction, one token, at most 50 children of one snapshot."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import parents
from support.catalog import new_run

from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home


@pytest.fixture
def snapshot(catalog: Catalog):
    """A snapshot of a run that has ended."""
    return parents.listed(catalog, name="root")


def test_children_wait_in_the_order_given(catalog: Catalog, snapshot) -> None:
    """The queue takes points in order, whatever their ids are."""
    made = parents.children(catalog, parents.submission(snapshot), 6)
    assert [run.phase for run in made] == ["QUEUED"] * 6
    claimed = [catalog.claim() for _ in range(6)]
    assert [run.run_id for run in claimed if run] == [run.run_id for run in made]


def test_all_children_or_none(catalog: Catalog, snapshot) -> None:
    """One child that cannot be stored keeps the others out, and leaves the token free."""
    bound = parents.submission(snapshot)
    good, bad = parents.child(catalog, bound), parents.child(catalog, bound, run_id=snapshot.run_id)
    with pytest.raises(errors.Conflict, match=snapshot.run_id):
        catalog.add_children(bound, [good, bad])
    assert catalog.branches(snapshot.run_id).total == 0
    assert parents.children(catalog, parents.submission(snapshot, steps=7))[0].phase == "QUEUED"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        pytest.param({"steps": 31}, "steps 30 instead of 31", id="steps"),
        pytest.param({"restore": "trainingState"}, "restore weights instead of trainingState", id="restore"),
        pytest.param({"snapshot_id": "f" * 64}, "snapshot .* instead of ffffffffffffffff$", id="snapshot"),
        pytest.param({"parent_run_id": "f" * 16}, "parent .* instead of f{16}$", id="parent"),
        pytest.param({"steps": 1, "restore": "trainingState"}, "steps .*, restore", id="two"),
    ],
)
def test_a_token_is_bound_to_its_fan(catalog: Catalog, snapshot, other, said) -> None:
    """Another parent, snapshot, horizon or restore under a used token is refused with what differs."""
    parents.children(catalog, parents.submission(snapshot))
    with pytest.raises(errors.Conflict, match=said) as caught:
        catalog.fan(parents.submission(snapshot, **other))
    assert caught.value.field == "submissionId"


def test_the_token_is_looked_at_again_inside_the_transaction(catalog: Catalog, snapshot) -> None:
    """What another process bound the token to in the meantime is seen."""
    late = parents.submission(snapshot, steps=31)
    catalog.fan(late)
    parents.children(catalog, parents.submission(snapshot))
    with pytest.raises(errors.Conflict, match="steps"):
        catalog.add_children(late, [parents.child(catalog, late)])


def test_a_fan_knows_its_children(catalog: Catalog, snapshot) -> None:
    """Children by id are those of the token; the room counts those of every token."""
    first = parents.children(catalog, parents.submission(snapshot), 3)
    parents.children(catalog, parents.submission(snapshot, "other"), 2)
    catalog.request_cancel(first[0].run_id)
    fan = catalog.fan(parents.submission(snapshot))
    assert set(fan.children) == {run.run_id for run in first}
    assert fan.children[first[0].run_id].phase == "CANCELLED"
    assert (fan.existing, fan.phases["QUEUED"], fan.phases["CANCELLED"]) == (5, 4, 1)


def test_fifty_children_fit_and_one_more_does_not(catalog: Catalog, snapshot) -> None:
    """The limit counts every phase and every token, and the message says how many are in which phase."""
    first = parents.children(catalog, parents.submission(snapshot), 30)
    for run in first[:3]:
        catalog.request_cancel(run.run_id)
    parents.children(catalog, parents.submission(snapshot, "second"), 20)
    with pytest.raises(errors.Exhausted, match=r"50 branches exist \(47 QUEUED, 3 CANCELLED\); 1 more make 51"):
        parents.children(catalog, parents.submission(snapshot, "third"))
    assert catalog.branches(snapshot.run_id).total == 50


def test_each_snapshot_has_room_of_its_own(catalog: Catalog, snapshot) -> None:
    """A full fan of one snapshot leaves another of the same run empty."""
    parents.children(catalog, parents.submission(snapshot), 50)
    other = parents.saved(catalog, snapshot.run_id, step=20)
    assert len(parents.children(catalog, parents.submission(other, "other"), 50)) == 50


def test_two_writers_never_make_sixty(home: Home, catalog: Catalog, snapshot) -> None:
    """Two fans of 30 at one moment: one is there, one is refused."""
    bounds = [parents.submission(snapshot, token) for token in ("one", "two")]
    wanted = [[parents.child(catalog, bound) for _ in range(30)] for bound in bounds]

    def submit(number: int) -> str:
        with Catalog.open(home) as own:
            try:
                return str(len(own.add_children(bounds[number], wanted[number])))
            except errors.Exhausted as error:
                return error.message

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(submit, range(2)))
    assert said[0] == "30"
    assert "30 branches exist (30 QUEUED); 30 more make 60" in said[1]
    assert catalog.branches(snapshot.run_id).total == 30


def test_a_child_needs_its_parent(catalog: Catalog, snapshot) -> None:
    """A parent that was deleted in the meantime has no child."""
    bound = parents.submission(snapshot)
    late = parents.child(catalog, bound)
    catalog.delete_run(snapshot.run_id)
    with pytest.raises(errors.NotFound, match=snapshot.run_id):
        catalog.add_children(bound, [late])


@pytest.mark.parametrize(
    ("swept", "restore", "refused"),
    [
        pytest.param("trainingState", "weights", False, id="state-swept-weights-wanted"),
        pytest.param("trainingState", "trainingState", True, id="state-swept-state-wanted"),
        pytest.param("weights", "weights", True, id="weights-swept"),
        pytest.param("weights", "trainingState", True, id="weights-swept-state-wanted"),
    ],
)
def test_a_swept_artifact_starts_no_child(catalog: Catalog, snapshot, swept, restore, refused) -> None:
    """What is to be restored, and the weights that the plan names, are there when the child is stored."""
    better = parents.saved(catalog, snapshot.run_id, step=20)
    assert better.snapshot_id
    bound = parents.submission(snapshot, restore=restore)
    assert catalog.sweep(snapshot.snapshot_id, [swept]) == {swept}
    if refused:
        with pytest.raises(errors.Refused, match=f"no {swept} any more"):
            parents.children(catalog, bound)
    else:
        assert parents.children(catalog, bound)


def test_a_deleted_childs_id_stays_spent(catalog: Catalog, snapshot) -> None:
    """The token refuses its point for good; the room in the fan is free again."""
    bound = parents.submission(snapshot)
    (gone, *_) = parents.children(catalog, bound, 50)
    catalog.request_cancel(gone.run_id)
    catalog.delete_run(gone.run_id)
    assert catalog.fan(bound).spent == {gone.run_id}
    with pytest.raises(errors.Refused, match=f"{gone.run_id} was deleted"):
        catalog.add_children(bound, [parents.child(catalog, bound, run_id=gone.run_id)])
    assert len(parents.children(catalog, bound)) == 1


def test_a_runs_own_submission_is_no_fan(catalog: Catalog, snapshot) -> None:
    """A token that started a run by itself starts no children, and the other way round, even after a deletion."""
    catalog.add_run(new_run(catalog, submission_id="alone"))
    with pytest.raises(errors.Conflict, match="started run"):
        catalog.fan(parents.submission(snapshot, "alone"))
    bound = parents.submission(snapshot, "fan")
    (child,) = parents.children(catalog, bound)
    assert catalog.submitted("fan") is None
    for _ in range(2):
        with pytest.raises(errors.Conflict, match="fan"):
            catalog.add_run(new_run(catalog, submission_id="fan"))
        if catalog.fan(bound).children:
            catalog.request_cancel(child.run_id)
            catalog.delete_run(child.run_id)
    assert catalog.submitted("fan") is None
    assert catalog.submitted("alone") is not None


def test_a_deleted_runs_submission_stays_spent(catalog: Catalog) -> None:
    """The token of a run that was deleted starts no other one."""
    run = catalog.add_run(new_run(catalog, submission_id="alone"))
    catalog.request_cancel(run.run_id)
    catalog.delete_run(run.run_id)
    with pytest.raises(errors.Conflict, match=f"started run {run.run_id}, which was deleted"):
        catalog.add_run(new_run(catalog, submission_id="alone"))


def test_cancelling_a_submission_leaves_what_has_ended(catalog: Catalog, snapshot) -> None:
    """Those that wait are cancelled at once, the one in hand is asked, and an ended one keeps its phase."""
    parents.children(catalog, parents.submission(snapshot), 4)
    other = parents.children(catalog, parents.submission(snapshot, "other"))
    ended, at_work = catalog.claim(), catalog.claim()
    assert ended is not None
    assert at_work is not None
    catalog.set_phase(ended.run_id, "COMPLETED", only_from=("PREPARING",))
    page = catalog.request_cancel_submission("token")
    assert [run.phase for run in reversed(page.items)] == ["COMPLETED", "PREPARING", "CANCELLED", "CANCELLED"]
    assert catalog.cancel_requested(at_work.run_id)
    assert catalog.run(other[0].run_id).phase == "QUEUED"
    assert catalog.request_cancel_submission("token").total == 4
    with pytest.raises(errors.NotFound, match="nothing was submitted under 'nothing'"):
        catalog.request_cancel_submission("nothing")


def test_a_clock_that_jumps_back_changes_no_order(home: Home) -> None:
    """The queue's order, and that of lists, is the order of submission, whatever the clock says."""
    hours = iter(range(23, -1, -1))
    with Catalog.open(home, now=lambda: f"2026-01-01T{next(hours):02}:00:00Z") as catalog:
        snapshot = parents.listed(catalog)
        made = [run for name in "abc" for run in parents.children(catalog, parents.submission(snapshot, name))]
        assert made[0].created_at > made[-1].created_at
        assert [run.run_id for run in catalog.branches(snapshot.run_id).items] == [run.run_id for run in made[::-1]]
        assert [run and run.run_id for run in (catalog.claim(), catalog.claim(), catalog.claim())] == [
            run.run_id for run in made
        ]


@pytest.mark.parametrize("digits", [1, 12, 64])
def test_a_fans_snapshot_goes_by_a_prefix(catalog: Catalog, snapshot, digits) -> None:
    """The prefix is looked for among the parent's snapshots alone: those of other runs make nothing ambiguous."""
    for _ in range(20):
        parents.saved(catalog, parents.listed(catalog).run_id, step=20)
    assert catalog.source(snapshot.run_id, snapshot.snapshot_id[:digits]) == snapshot


@pytest.mark.parametrize(
    ("reference", "error"),
    [pytest.param("", errors.Invalid, id="empty"), pytest.param("nope", errors.NotFound, id="unknown")],
)
def test_a_fan_needs_a_snapshot(catalog: Catalog, snapshot, reference, error) -> None:
    """One that is there."""
    with pytest.raises(error) as caught:
        catalog.source(snapshot.run_id, reference)
    assert caught.value.field == "snapshot"


def test_another_runs_snapshot_is_refused(catalog: Catalog, snapshot) -> None:
    """With whose it is."""
    other = parents.listed(catalog)
    with pytest.raises(errors.Refused, match=f"is of run {other.run_id}, and not of {snapshot.run_id}"):
        catalog.source(snapshot.run_id, other.snapshot_id)


def test_an_ambiguous_snapshot_is_refused(catalog: Catalog, snapshot) -> None:
    """A prefix that fits two of the parent's snapshots names neither: of 17, two begin with the same digit."""
    begun = Counter(parents.saved(catalog, snapshot.run_id, step=step).snapshot_id[0] for step in range(20, 37))
    with pytest.raises(errors.Ambiguous):
        catalog.source(snapshot.run_id, begun.most_common(1)[0][0])
