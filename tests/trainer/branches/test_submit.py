"""Submitting a fan: all children or none, and under one token no child twice."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import life, parents
from support.homes import CommandLine

from akka_optimize import errors
from akka_optimize.trainer import branches, delete, files
from akka_optimize.trainer.branches import fan
from akka_optimize.trainer.catalog import Catalog

RATE, RANK = parents.RATE, parents.RANK


def submit(trainer, snapshot, *points, **other):
    """A submission's report."""
    return branches.submit(*trainer, parents.asked(snapshot, *points, **other))


def folders(trainer):
    """The run folders on the disk, finished or not."""
    return sorted(os.listdir(trainer[1].runs))


def check(trainer):
    """Every run of the catalog has its folder, and there is no other one, nor a note of an unfinished move."""
    runs = trainer[0].runs(limit=200).items
    assert folders(trainer) == sorted(run.folder.removeprefix("runs/") for run in runs)
    assert not (trainer[1].path / "unfinished.json").exists()


def test_children_are_queued_in_point_order(trainer, snapshot):
    """Every point has its child, waiting, with a whole folder, and the fan is counted."""
    told = submit(trainer, snapshot, *parents.rates(5))
    assert [(point.existing, point.phase) for point in told.points] == [(False, "QUEUED")] * 5
    assert (told.fan.existing, told.fan.new, told.fan.total) == (0, 5, 5)
    queued = [trainer[0].claim() for _ in range(5)]
    assert [run.run_id for run in queued if run] == [point.child_run_id for point in told.points]
    check(trainer)
    for run in queued:
        assert sorted(os.listdir(trainer[1].path / run.folder)) == [
            "config.json",
            "data.jsonl",
            "run.json",
            "snapshots",
        ]


def test_every_child_can_be_trained(trainer, snapshot):
    """A worker finds all that it needs, under both ways to restore."""
    submit(trainer, snapshot, {RATE: 1e-5, RANK: 4}, {RATE: 1e-5, RANK: 16})
    submit(trainer, snapshot, {RATE: 1e-5}, restore="trainingState", submission_id="state")
    for _ in range(3):
        run = parents.carry_out(*trainer)
        assert (run.phase, run.observed_step) == ("COMPLETED", 30), run.failure_reason


def test_the_same_submission_again_reaches_its_children(trainer, snapshot):
    """No run and no folder is added, whatever became of the children, and their phases are shown."""
    first = submit(trainer, snapshot, *parents.rates(3))
    catalog = trainer[0]
    catalog.request_cancel(first.points[1].child_run_id)
    before = folders(trainer)
    again = submit(trainer, snapshot, *parents.rates(3))
    assert [point.child_run_id for point in again.points] == [point.child_run_id for point in first.points]
    assert [(point.existing, point.phase) for point in again.points] == [
        (True, "QUEUED"),
        (True, "CANCELLED"),
        (True, "QUEUED"),
    ]
    assert [point.config_hash for point in again.points] == [point.config_hash for point in first.points]
    assert (again.fan.existing, again.fan.new, again.fan.total) == (3, 0, 3)
    assert folders(trainer) == before
    assert catalog.branches(snapshot.run_id).total == 3


def test_a_failed_child_is_reached_and_never_started_again(trainer, snapshot):
    """Its phase is told, and whether it can be resumed."""
    (point,) = submit(trainer, snapshot, {RATE: 1e-5}).points
    trainer[0].set_phase(
        point.child_run_id, "FAILED", only_from=("QUEUED",), failure_code="WORKER_LOST", resumable=True
    )
    (again,) = submit(trainer, snapshot, {RATE: 1e-5}).points
    assert (again.existing, again.phase, again.resumable) == (True, "FAILED", True)
    assert trainer[0].runs(phase="QUEUED").total == 0


def test_a_wider_grid_adds_its_new_points(trainer, snapshot):
    """Those that are there are reached wherever they stand in the new order; the new ones are queued in order."""
    first = submit(trainer, snapshot, {RATE: 1e-5, RANK: 8}, {RATE: 2e-5, RANK: 8})
    wider = [{RANK: 8, RATE: rate} for rate in (3e-5, 2e-5, 4e-5, 1e-5)]
    told = submit(trainer, snapshot, *wider)
    assert [point.existing for point in told.points] == [False, True, False, True]
    assert told.points[3].child_run_id == first.points[0].child_run_id
    assert (told.fan.existing, told.fan.new, told.fan.total) == (2, 2, 4)
    newest = trainer[0].branches(snapshot.run_id).items[:2]
    assert [run.run_id for run in newest] == [told.points[2].child_run_id, told.points[0].child_run_id]
    check(trainer)


def test_existing_points_need_no_artifact(trainer, snapshot, parent):
    """Children are reached although their source is gone; one more point is refused, and nothing is stored."""
    first = submit(trainer, snapshot, {RATE: 1e-5}, {RANK: 4})
    (trainer[1].path / parent.folder / "snapshots" / "10" / "weights.safetensors").unlink()
    told = submit(trainer, snapshot, {RATE: 1e-5}, {RANK: 4})
    assert [point.child_run_id for point in told.points] == [point.child_run_id for point in first.points]
    assert told.points[1].restore_error is None
    with pytest.raises(errors.Refused, match="cannot be restored"):
        submit(trainer, snapshot, {RATE: 1e-5}, {RANK: 4}, {RATE: 2e-5})
    assert trainer[0].branches(snapshot.run_id).total == 2


@pytest.mark.parametrize(
    "other",
    [pytest.param({"steps": 31}, id="steps"), pytest.param({"restore": "trainingState"}, id="restore")],
)
def test_a_token_is_bound(trainer, snapshot, other):
    """Another horizon or restore under a used token is refused, and so are another snapshot and parent."""
    stranger = trainer[0].snapshots(parents.trained(*trainer).run_id).items[0]
    submit(trainer, snapshot, {RATE: 1e-5})
    with pytest.raises(errors.Conflict, match=next(iter(other))):
        submit(trainer, snapshot, {RATE: 1e-5}, **other)
    newer = trainer[0].snapshots(snapshot.run_id).items[0]
    with pytest.raises(errors.Conflict, match="snapshot"):
        submit(trainer, newer, {RATE: 1e-5})
    with pytest.raises(errors.Conflict, match="parent"):
        submit(trainer, stranger, {RATE: 1e-5})


def test_a_description_is_for_new_children(trainer, snapshot):
    """A token is not bound to it: those that exist keep theirs, which is noted."""
    first = submit(trainer, snapshot, {RATE: 1e-5}, description="first")
    assert first.notes == ()
    assert submit(trainer, snapshot, {RATE: 1e-5}, description="first").notes == ()
    told = submit(trainer, snapshot, {RATE: 1e-5}, {RATE: 2e-5}, description="second")
    (note,) = told.notes
    assert "1 child run keeps the description given before" in note
    described = [trainer[0].run(point.child_run_id).description for point in told.points]
    assert described == ["first", "second"]


def test_a_name_that_points_at_other_rows_by_now_is_noted(trainer, snapshot):
    """Its point reaches the child that it has, which trains on the rows of that time."""
    catalog, home = trainer
    rows = life.add_rows(home, catalog, [life.row(f"other {i}", "answer") for i in range(40)], name="moving")
    (first,) = submit(trainer, snapshot, {"dataset": "moving"}).points
    assert submit(trainer, snapshot, {"dataset": "moving"}).notes == ()
    life.add_rows(home, catalog, [life.row(f"newer {i}", "answer") for i in range(40)], name="moving")
    told = submit(trainer, snapshot, {"dataset": "moving"})
    assert told.notes == ("dataset 'moving' has other rows by now; child runs that are there keep those they had",)
    assert (told.points[0].child_run_id, told.points[0].existing) == (first.child_run_id, True)
    assert catalog.run(first.child_run_id).dataset == rows


def test_a_conflict_names_every_difference(trainer, snapshot):
    """Each with what the token was used for, and what is asked for now."""
    submit(trainer, snapshot, {RATE: 1e-5})
    newer = trainer[0].snapshots(snapshot.run_id).items[0]
    with pytest.raises(errors.Conflict) as caught:
        submit(trainer, newer, {RATE: 2e-5}, steps=31, restore="trainingState", description="another")
    assert caught.value.message == (
        f"submission 'token' was made with snapshot {snapshot.snapshot_id[:16]} instead of {newer.snapshot_id[:16]}, "
        "steps 30 instead of 31, restore weights instead of trainingState"
    )
    assert caught.value.field == "submissionId"


def test_a_deleted_childs_point_is_refused_under_its_token(trainer, snapshot):
    """Its id stays spent; the other points, and a new token, are free to go on."""
    told = submit(trainer, snapshot, *parents.rates(3))
    gone = told.points[1].child_run_id
    trainer[0].request_cancel(gone)
    delete.delete(*trainer, gone)
    with pytest.raises(errors.Refused, match=f"{gone} was deleted"):
        submit(trainer, snapshot, *parents.rates(4))
    others = [point for index, point in enumerate(parents.rates(4)) if index != 1]
    assert submit(trainer, snapshot, *others).fan.total == 3
    assert submit(trainer, snapshot, *parents.rates(2), submission_id="new").fan.new == 2
    check(trainer)


def test_the_fan_is_full_at_fifty(trainer, snapshot):
    """Points that reach their child count once, whatever the token of the others; a deletion frees room."""
    submit(trainer, snapshot, *parents.rates(48))
    assert submit(trainer, snapshot, *parents.rates(50)).fan.new == 2
    with pytest.raises(errors.Exhausted, match=r"50 branches exist \(50 QUEUED\); 1 more make 51"):
        submit(trainer, snapshot, {RANK: 4}, submission_id="other")
    child = trainer[0].branches(snapshot.run_id).items[0].run_id
    trainer[0].request_cancel(child)
    with pytest.raises(errors.Exhausted, match=r"49 QUEUED, 1 CANCELLED"):
        submit(trainer, snapshot, {RANK: 4}, submission_id="other")
    delete.delete(*trainer, child)
    assert submit(trainer, snapshot, {RANK: 4}, submission_id="other").fan.total == 50


def test_a_disk_that_fills_up_leaves_no_child_and_no_folder(trainer, snapshot, monkeypatch):
    """Wherever in the submission it happens."""
    state = CommandLine(trainer[1].path).state
    before = state()
    really = os.fsync
    for count in (0, 1, 5, 20, 40):
        left = iter(range(count))

        def fsync(descriptor, left=left):
            if next(left, None) is None:
                raise OSError(errno.ENOSPC, "No space left on device")
            really(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(errors.Exhausted, match="no space left"):
            submit(trainer, snapshot, *parents.rates(20))
        monkeypatch.setattr(os, "fsync", really)
        assert state() == before
    assert submit(trainer, snapshot, *parents.rates(20)).fan.new == 20


def test_a_catalog_that_refuses_leaves_no_child_and_no_folder(trainer, snapshot, monkeypatch):
    """A fan that filled up, or a snapshot that was swept, after it was looked at."""
    state = CommandLine(trainer[1].path).state
    before = state()

    def full(*_args):
        assert len(folders(trainer)) == 6
        raise errors.Exhausted("no room")

    with monkeypatch.context() as later:
        later.setattr(trainer[0], "add_children", full)
        with pytest.raises(errors.Exhausted):
            submit(trainer, snapshot, *parents.rates(5))
    assert state() == before


def test_children_are_flushed_before_they_exist(trainer, snapshot, monkeypatch):
    """When the catalog hears of them, their files, their folders and the names of these were flushed."""
    catalog, home = trainer
    flushed, really, add = set(), os.fsync, catalog.add_children

    def fsync(descriptor):
        really(descriptor)
        flushed.add(os.fstat(descriptor).st_ino)

    def add_children(bound, new):
        for child in new:
            folder = home.path / child.folder
            for place in (folder / "config.json", folder / "run.json", folder, home.runs):
                assert place.stat().st_ino in flushed, place
        return add(bound, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(catalog, "add_children", add_children)
    assert submit(trainer, snapshot, *parents.rates(3)).fan.new == 3


def test_one_token_at_once_makes_one_set(trainer, snapshot):
    """Two submissions that both resolved before either was stored: one set, and both see all of it."""
    catalog, home = trainer

    def go(_number):
        with Catalog.open(home) as own:
            return branches.submit(own, home, parents.asked(snapshot, *parents.rates(20)))

    with ThreadPoolExecutor(3) as pool:
        told = list(pool.map(go, range(3)))
    assert sorted(each.fan.new for each in told) == [0, 0, 20]
    assert len({point.child_run_id for each in told for point in each.points}) == 20
    assert catalog.branches(snapshot.run_id).total == 20
    check(trainer)


def test_a_slower_submission_sees_the_faster_one(trainer, snapshot, monkeypatch):
    """What another process stored between looking and storing is reached, and the rest is added."""
    resolve = fan._resolved
    late = resolve(*trainer, parents.asked(snapshot, *parents.rates(4)))
    submit(trainer, snapshot, *parents.rates(3))
    monkeypatch.setattr(fan, "_resolved", lambda *_args: late)
    told = submit(trainer, snapshot, *parents.rates(4))
    assert [point.existing for point in told.points] == [True, True, True, False]
    assert (told.fan.existing, told.fan.new) == (3, 1)
    check(trainer)


def test_the_parent_stays_while_a_child_waits(trainer, snapshot):
    """Deleting it is refused, and the child is there still."""
    (point,) = submit(trainer, snapshot, {RATE: 1e-5}).points
    with pytest.raises(errors.Refused, match="1 child run"):
        delete.delete(*trainer, snapshot.run_id)
    assert parents.carry_out(*trainer).run_id == point.child_run_id
    check(trainer)


def test_flushes_are_not_made_one_after_the_other(trainer, snapshot, monkeypatch):
    """All folders of a fan are flushed together, as a disk does that in a fraction of the time."""
    together = []
    really = files.flush_all
    monkeypatch.setattr(files, "flush_all", lambda paths: (together.append(len(paths)), really(paths))[1])
    submit(trainer, snapshot, *parents.rates(10))
    assert together == [30]


@pytest.mark.parametrize("after", [False, True], ids=["before-the-commit", "after-the-commit"])
def test_an_interrupt_leaves_all_or_none(trainer, snapshot, monkeypatch, after):
    """Ctrl-C next to the commit: every child with its folder, or no child and no folder."""
    add = trainer[0].add_children

    def interrupted(*arguments):
        if after:
            add(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer[0], "add_children", interrupted)
    with pytest.raises(KeyboardInterrupt):
        submit(trainer, snapshot, *parents.rates(3))
    assert trainer[0].branches(snapshot.run_id).total == (3 if after else 0)
    check(trainer)
