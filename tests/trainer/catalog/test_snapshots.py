"""Committed snapshots."""

from __future__ import annotations

import math
import secrets
from dataclasses import replace

import pytest
from support.catalog import make_run, new_run

from akka_optimize import errors
from akka_optimize.records import Artifact, Snapshot
from akka_optimize.trainer.catalog import Catalog, NewSnapshot

ARTIFACTS = (
    Artifact("weights", "a" * 64, 2**40, swept=False),
    Artifact("trainingState", "b" * 64, 7, swept=True),
)

KINDS = frozenset({"weights", "trainingState"})


def save(catalog: Catalog, run_id: str, step: int, loss: float | None = None, attempt: int = 1) -> Snapshot:
    """A snapshot of a run at a step."""
    return catalog.add_snapshot(
        NewSnapshot(
            snapshot_id=secrets.token_hex(32),
            run_id=run_id,
            attempt=attempt,
            step=step,
            epoch=step / 3,
            artifacts=ARTIFACTS,
            validation_loss=loss,
        )
    )


def test_a_snapshot_is_kept_whole(catalog: Catalog) -> None:
    """What was saved is what is listed, and the run says where it can go on from."""
    run = make_run(catalog)
    assert run.saved_step is None
    saved = save(catalog, run.run_id, 10, 0.1)
    assert (saved.run_id, saved.attempt, saved.step, saved.epoch) == (run.run_id, 1, 10, 10 / 3)
    assert (saved.artifacts, saved.status, saved.validation_loss) == (ARTIFACTS, "Available", 0.1)
    assert (saved.best, saved.held_by) == (True, ())
    assert catalog.snapshots(run.run_id).items == (saved,)
    assert catalog.run(run.run_id).saved_step == 10


def test_newest_first_in_pages(catalog: Catalog) -> None:
    """Snapshots are listed from the last attempt's last step down, page by page, each run's own."""
    run, other = make_run(catalog), make_run(catalog)
    for attempt, step in [(1, 10), (1, 20), (2, 15)]:
        save(catalog, run.run_id, step, attempt=attempt)
    save(catalog, other.run_id, 99)
    pages = [catalog.snapshots(run.run_id, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [(item.attempt, item.step) for page in pages for item in page.items] == [(2, 15), (1, 20), (1, 10)]
    assert {page.total for page in pages} == {3}


@pytest.mark.parametrize(
    ("losses", "best"),
    [
        pytest.param([0.5, 0.25, 0.75], 1, id="lowest"),
        pytest.param([0.5, 0.25, 0.25], 1, id="earliest-of-equals"),
        pytest.param([math.nan, 0.5, -math.inf], 1, id="finite-only"),
        pytest.param([None, 0.5, None], 1, id="recorded-only"),
        pytest.param([None, math.nan, math.inf], None, id="none"),
        pytest.param([9.0, 10.0], 0, id="as-numbers-and-not-as-text"),
        pytest.param([1e-7, 0.01], 0, id="exponents"),
    ],
)
def test_the_best_by_validation(catalog: Catalog, losses: list[float | None], best: int | None) -> None:
    """The lowest finite validation loss marks one snapshot, on every page."""
    run = make_run(catalog)
    for step, loss in enumerate(losses):
        save(catalog, run.run_id, step, loss)
    marked = [
        item.step
        for offset in range(len(losses))
        for item in catalog.snapshots(run.run_id, 1, offset).items
        if item.best
    ]
    assert marked == ([] if best is None else [best])


def test_what_is_not_finite_comes_back(catalog: Catalog) -> None:
    """A validation loss that is not a number is that, and not missing."""
    run = make_run(catalog)
    assert math.isnan(save(catalog, run.run_id, 1, math.nan).validation_loss or 0)
    assert save(catalog, run.run_id, 2, math.inf).validation_loss == math.inf


def test_a_step_is_saved_once(catalog: Catalog) -> None:
    """An attempt has one snapshot of a step; a later attempt has its own."""
    run = make_run(catalog)
    save(catalog, run.run_id, 1)
    with pytest.raises(errors.Conflict):
        save(catalog, run.run_id, 1)
    save(catalog, run.run_id, 1, attempt=2)
    assert catalog.snapshots(run.run_id).total == 2


def test_an_unknown_run_has_no_snapshots(catalog: Catalog) -> None:
    """Neither saving nor listing takes a run that is not there."""
    with pytest.raises(errors.NotFound, match="0" * 16):
        save(catalog, "0" * 16, 1)
    with pytest.raises(errors.NotFound, match="0" * 16):
        catalog.snapshots("0" * 16)


def children(catalog: Catalog, snapshot: Snapshot, *restores: str) -> list[str]:
    """A child of the snapshot for each, in phases of all kinds."""
    made = []
    for restore, phase in zip(restores, ("QUEUED", "CANCELLED", "QUEUED"), strict=False):
        of = {"parent_run_id": snapshot.run_id, "source_snapshot_id": snapshot.snapshot_id, "restore": restore}
        run_id = catalog.add_run(new_run(catalog, **of)).run_id
        catalog.set_phase(run_id, phase, only_from=("QUEUED",))
        made.append(run_id)
    return made


def whole(catalog: Catalog, run_id: str, step: int, loss: float | None = None) -> Snapshot:
    """A snapshot that has both its artifacts."""
    artifacts = tuple(replace(artifact, swept=False) for artifact in ARTIFACTS)
    new = NewSnapshot(
        snapshot_id=secrets.token_hex(32),
        run_id=run_id,
        attempt=1,
        step=step,
        epoch=0.0,
        artifacts=artifacts,
        validation_loss=loss,
    )
    return catalog.add_snapshot(new)


def left(catalog: Catalog, snapshot: Snapshot) -> set[str]:
    """The kinds that the catalog says are there."""
    return {artifact.kind for artifact in catalog.snapshot(snapshot.snapshot_id).artifacts if not artifact.swept}


@pytest.mark.parametrize(
    ("restores", "pins", "stay"),
    [
        pytest.param((), (), set(), id="nobody"),
        pytest.param(("weights",), (), {"weights"}, id="child-of-the-weights"),
        pytest.param(("trainingState",), (), {"weights", "trainingState"}, id="child-of-the-state"),
        pytest.param(("weights", "trainingState"), (), {"weights", "trainingState"}, id="a-cancelled-child-holds-too"),
        pytest.param((), ("trainingState",), {"trainingState"}, id="pin"),
        pytest.param(("weights",), ("trainingState",), {"weights", "trainingState"}, id="child-and-pin"),
    ],
)
def test_what_is_held_is_not_swept(
    catalog: Catalog, restores: tuple[str, ...], pins: tuple[str, ...], stay: set[str]
) -> None:
    """Children in any phase hold the weights and what they restored, pins hold what they name; all else may go."""
    snapshot = whole(catalog, make_run(catalog).run_id, 1)
    made = children(catalog, snapshot, *restores)
    if pins:
        catalog.pin(snapshot.snapshot_id, pins)
    assert catalog.sweep(snapshot.snapshot_id, KINDS) == KINDS - stay
    assert left(catalog, snapshot) == stay
    (listed,) = catalog.snapshots(snapshot.run_id).items
    assert listed.held_by == (*made, *("pin",) * len(pins))
    assert listed.status == ("Available" if stay else "Swept")
    assert [each.snapshot_id for each in catalog.unswept(snapshot.run_id)] == [snapshot.snapshot_id] * bool(stay)
    assert catalog.sweep(snapshot.snapshot_id, KINDS) == frozenset()


def test_the_best_is_not_swept(catalog: Catalog) -> None:
    """Of the best by validation nothing goes, until another one is better."""
    run = make_run(catalog)
    first, second = whole(catalog, run.run_id, 1, 0.5), whole(catalog, run.run_id, 2, 0.6)
    assert catalog.sweep(first.snapshot_id, KINDS) == frozenset()
    assert catalog.sweep(second.snapshot_id, KINDS) == KINDS
    whole(catalog, run.run_id, 3, 0.1)
    assert catalog.sweep(first.snapshot_id, KINDS) == KINDS


def test_one_kind_may_go_alone(catalog: Catalog) -> None:
    """What was not named stays, and the snapshot is available."""
    snapshot = whole(catalog, make_run(catalog).run_id, 1)
    assert catalog.sweep(snapshot.snapshot_id, ["trainingState"]) == {"trainingState"}
    assert left(catalog, snapshot) == {"weights"}
    assert catalog.snapshot(snapshot.snapshot_id).status == "Available"


def test_an_unknown_snapshot_cannot_be_swept(catalog: Catalog) -> None:
    """NotFound, with the id."""
    with pytest.raises(errors.NotFound, match="f" * 64):
        catalog.sweep("f" * 64, KINDS)
