"""Who holds a snapshot, and pins."""

from __future__ import annotations

import pytest
from support import parents

from akka_optimize import errors
from akka_optimize.trainer.catalog import Catalog


@pytest.fixture
def snapshot(catalog: Catalog):
    """A snapshot of a run that has saved a better one since, so that nothing else keeps it."""
    return parents.listed(catalog, name="root")


def test_a_pin_holds_against_sweeping(catalog: Catalog, snapshot) -> None:
    """What is pinned is not given up until it is let go of; the other kind is."""
    assert catalog.pin(snapshot.snapshot_id[:10], ["trainingState"]).held_by == ("pin",)
    assert catalog.sweep(snapshot.snapshot_id, ["weights", "trainingState"]) == {"weights"}
    assert catalog.unpin(snapshot.snapshot_id).held_by == ()
    assert catalog.sweep(snapshot.snapshot_id, ["trainingState"]) == {"trainingState"}


def test_a_pin_without_a_kind_holds_all_that_is_there(catalog: Catalog, snapshot) -> None:
    """Both kinds, or the one that is left."""
    catalog.sweep(snapshot.snapshot_id, ["trainingState"])
    catalog.pin(snapshot.snapshot_id)
    assert catalog.sweep(snapshot.snapshot_id, ["weights"]) == frozenset()


def test_pinning_twice_changes_nothing(catalog: Catalog, snapshot) -> None:
    """A pin is a state and no count: one unpin lets go of it."""
    first = catalog.pin(snapshot.snapshot_id, ["weights"])
    assert catalog.pin(snapshot.snapshot_id) == catalog.pin(snapshot.snapshot_id, ["weights", "weights"]) == first
    assert catalog.unpin(snapshot.snapshot_id, ["weights"]).held_by == ("pin",)
    assert catalog.unpin(snapshot.snapshot_id).held_by == ()


@pytest.mark.parametrize(
    ("kinds", "error", "said"),
    [
        pytest.param(["optimizer"], errors.Invalid, "'optimizer' is no artifact; use weights or", id="kind"),
        pytest.param(["weights"], errors.Refused, "has no weights any more", id="swept"),
        pytest.param([], errors.Refused, "has no trainingState and no weights any more", id="all-swept"),
    ],
)
def test_what_cannot_be_pinned(catalog: Catalog, snapshot, kinds, error, said) -> None:
    """A pin holds what is there: it brings nothing back."""
    catalog.sweep(snapshot.snapshot_id, ["weights", "trainingState"])
    with pytest.raises(error, match=said):
        catalog.pin(snapshot.snapshot_id, kinds)
    assert catalog.snapshot(snapshot.snapshot_id).held_by == ()


def test_what_is_not_pinned_cannot_be_unpinned(catalog: Catalog, snapshot) -> None:
    """Letting go of nothing is said, for a kind and for all."""
    for kinds in ([], ["weights"]):
        with pytest.raises(errors.Refused, match="is pinned"):
            catalog.unpin(snapshot.snapshot_id, kinds)
    catalog.pin(snapshot.snapshot_id, ["weights"])
    with pytest.raises(errors.Refused, match="no trainingState is pinned"):
        catalog.unpin(snapshot.snapshot_id, ["weights", "trainingState"])
    assert catalog.snapshot(snapshot.snapshot_id).held_by == ("pin",)


@pytest.mark.parametrize("phase", ["QUEUED", "CANCELLED"])
def test_a_child_in_any_phase_holds_its_source(catalog: Catalog, snapshot, phase) -> None:
    """Until it is deleted: its weights, and what it restored; not the training state that it did not."""
    (child,) = parents.children(catalog, parents.submission(snapshot))
    if phase == "CANCELLED":
        catalog.request_cancel(child.run_id)
    assert catalog.snapshot(snapshot.snapshot_id).held_by == (child.run_id,)
    assert catalog.sweep(snapshot.snapshot_id, ["weights", "trainingState"]) == {"trainingState"}
    if phase == "CANCELLED":
        catalog.delete_run(child.run_id)
        assert catalog.sweep(snapshot.snapshot_id, ["weights"]) == {"weights"}


def test_a_restored_training_state_is_held_with_the_weights(catalog: Catalog, snapshot) -> None:
    """A child that went on from the state needs both."""
    parents.children(catalog, parents.submission(snapshot, restore="trainingState"))
    assert catalog.sweep(snapshot.snapshot_id, ["weights", "trainingState"]) == frozenset()


def test_holders_are_listed_oldest_first_with_the_pin_last(catalog: Catalog, snapshot) -> None:
    """One look at a snapshot, and a page of them, tell the same."""
    made = parents.children(catalog, parents.submission(snapshot), 3)
    catalog.pin(snapshot.snapshot_id)
    held = (*[run.run_id for run in made], "pin")
    assert catalog.snapshot(snapshot.snapshot_id[:8]).held_by == held
    assert catalog.snapshots(snapshot.run_id).items[0].held_by == held


def test_a_snapshot_is_looked_up_among_all(catalog: Catalog, snapshot) -> None:
    """By id or prefix; a name of a run names no snapshot."""
    parents.listed(catalog)
    assert catalog.snapshot(snapshot.snapshot_id[:20]).run_id == snapshot.run_id
    for reference in ("root", "0123456789abcdef" * 4):
        with pytest.raises(errors.NotFound) as caught:
            catalog.snapshot(reference)
        assert caught.value.field == "snapshot"
