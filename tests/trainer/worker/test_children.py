"""Children in the queue: what happens to one happens to no other, nor to the parent."""

from __future__ import annotations

import errno
import hashlib

import pytest
from support import branching, life

from akka_optimize.trainer import claims, recover, slots, start
from akka_optimize.trainer.engines import arithmetic
from akka_optimize.trainer.worker import attempt, drain

SEEDS = ({"seed": 10}, {"seed": 11}, {"seed": 12})


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def children(trainer):
    """Three children, of seeds 10 to 12, that wait; their parent has completed."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor({"execution.saveEvery": 5}))
    run, lock = claims.take(catalog, home)
    with lock:
        attempt.Attempt(catalog, home, run, drain.Stop()).carry_out()
    return branching.branch(catalog, home, branching.snapshot_of(catalog, run, 10), *SEEDS)


def work(trainer):
    """Carry out what waits, in this process."""
    drain.drain(*trainer, slots.take(trainer[1]), drain.Stop())


def parent_of(trainer, children):
    """All there is of the parent: its run, its snapshots but for who holds them, its files."""
    catalog, home = trainer
    run = catalog.run(children[0].parent_run_id)
    folder = home.path / run.folder
    files = {path: hashlib.sha256(path.read_bytes()).digest() for path in folder.rglob("*") if path.is_file()}
    return run, catalog.snapshots(run.run_id, limit=100), files


def test_a_disk_that_fills_up_while_a_child_saves(trainer, children, monkeypatch):
    """That child is paused with what it had saved before; the others are untouched, and nothing torn is listed."""
    catalog, home = trainer
    before = parent_of(trainer, children)
    save = arithmetic.ArithmeticHeld.save_training_state

    def fill_up(held, path):
        save(held, path)
        if children[1].run_id in str(path) and held.step == 10:
            path.write_bytes(path.read_bytes()[:3])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(arithmetic.ArithmeticHeld, "save_training_state", fill_up)
    work(trainer)
    after = [catalog.run(child.run_id) for child in children]
    assert [(run.phase, run.failure_code) for run in after] == [
        ("COMPLETED", None),
        ("PAUSED", "DISK_FULL"),
        ("COMPLETED", None),
    ]
    assert (after[1].resumable, after[1].observed_step, after[1].saved_step) == (True, 10, 5)
    listed = [[each.step for each in catalog.snapshots(run.run_id).items] for run in after]
    assert listed == [[10, 5], [5], [10, 5]]
    assert [path.name for path in (home.path / after[1].folder / "snapshots").iterdir()] == ["5"]
    assert parent_of(trainer, children) == before


def test_a_cancelled_child_stops_nobody(trainer, children):
    """Neither the one that was cancelled in the queue nor its siblings wait for anything."""
    catalog = trainer[0]
    catalog.request_cancel(children[0].run_id)
    work(trainer)
    assert [catalog.run(child.run_id).phase for child in children] == ["CANCELLED", "COMPLETED", "COMPLETED"]


@pytest.mark.parametrize("fault", ["kill:1@11", "kill:7@11"], ids=["before-its-first-update", "in-mid-run"])
def test_a_worker_that_is_killed_loses_no_child(trainer, children, fault):
    """The one in hand is FAILED and resumable; the next worker carries out those behind it; the parent is left."""
    catalog, home = trainer
    before = parent_of(trainer, children)
    assert life.finish(life.start_worker(home, fault=fault)) == -9
    assert [catalog.run(child.run_id).phase for child in children][2] == "QUEUED"
    assert life.finish(life.start_worker(home)) == 0
    after = [catalog.run(child.run_id) for child in children]
    assert [run.phase for run in after] == ["COMPLETED", "FAILED", "COMPLETED"]
    assert (after[1].failure_code, after[1].resumable) == ("WORKER_LOST", True)
    assert parent_of(trainer, children) == before


def test_a_child_that_was_claimed_and_no_more_is_not_lost(trainer, children):
    """A worker that died right after its claim leaves a FAILED run with a reason, and a queue that goes on."""
    catalog, home = trainer
    _, lock = claims.take(catalog, home)
    lock.release()
    recover.recover(catalog, home)
    assert "before its first update" in catalog.run(children[0].run_id).failure_reason
    work(trainer)
    assert [catalog.run(child.run_id).phase for child in children] == ["FAILED", "COMPLETED", "COMPLETED"]


def test_children_are_taken_in_the_order_of_their_points(trainer, children):
    """Whatever their ids."""
    catalog, home = trainer
    taken = []
    while (found := claims.take(catalog, home)) is not None:
        taken.append(found[0].run_id)
        found[1].release()
    assert taken == [child.run_id for child in children]
