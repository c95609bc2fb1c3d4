"""Old saves go, and nothing that anybody holds."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest
from support import branching, life

from akka_optimize import errors
from akka_optimize.trainer import artifacts, claims, closing, retention, start
from akka_optimize.trainer.engines import arithmetic
from akka_optimize.trainer.worker import attempt
from akka_optimize.trainer.worker.drain import Stop

EVERY_TWO = {"execution.saveEvery": 2, "execution.keepAdapters": 3, "execution.keepTrainingStates": 1}
BOTH = {"weights", "trainingState"}


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def carry_out(trainer, settings=None, meanwhile=None):
    """A run that saves after every second of 20 updates; `meanwhile(run, step)` is called after each save."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor(EVERY_TWO | (settings or {})))
    run, lock = claims.take(catalog, home)
    sweep = retention.sweep

    def watched(*args):
        sweep(*args)
        if meanwhile is not None:
            meanwhile(run, catalog.run(run.run_id).saved_step)

    with lock, pytest.MonkeyPatch.context() as patch:
        patch.setattr(retention, "sweep", watched)
        attempt.Attempt(catalog, home, run, Stop()).carry_out()
    assert catalog.run(run.run_id).phase == "COMPLETED"
    return catalog.run(run.run_id)


def listed(trainer, run):
    """What the catalog says is there: step -> kinds."""
    found = {}
    for snapshot in trainer[0].snapshots(run.run_id, limit=100).items:
        if kinds := {artifact.kind for artifact in snapshot.artifacts if not artifact.swept}:
            found[snapshot.step] = kinds
    return found


def on_disk(trainer, run):
    """What the disk says is there: step -> kinds."""
    found = {}
    for place in (trainer[1].path / run.folder / "snapshots").iterdir():
        assert (place / artifacts.MANIFEST).exists()
        if kinds := {kind for kind, name in artifacts.FILES.items() if (place / name).exists()}:
            found[int(place.name)] = kinds
    return found


def test_the_newest_stay(trainer):
    """Three weights and one training state are left, in the catalog, on the disk and in the checksums."""
    run = carry_out(trainer)
    assert listed(trainer, run) == on_disk(trainer, run) == {16: {"weights"}, 18: {"weights"}, 20: BOTH}
    names = [line.split("  ")[1] for line in (trainer[1].path / run.folder / "checksums.txt").read_text().splitlines()]
    assert [name for name in names if name.endswith((".safetensors", ".pt"))] == [
        "snapshots/16/weights.safetensors",
        "snapshots/18/weights.safetensors",
        "snapshots/20/training-state.pt",
        "snapshots/20/weights.safetensors",
    ]
    statuses = {each.step: each.status for each in trainer[0].snapshots(run.run_id, limit=100).items}
    assert statuses == {step: "Available" if step >= 16 else "Swept" for step in range(2, 21, 2)}


def test_more_states_than_weights(trainer):
    """Each kind is counted by itself."""
    run = carry_out(trainer, {"execution.keepAdapters": 1, "execution.keepTrainingStates": 2})
    assert listed(trainer, run) == on_disk(trainer, run) == {18: {"trainingState"}, 20: BOTH}


def test_no_moment_has_more_than_was_asked_for(trainer):
    """After each save, and not only in the end, at most so many are there."""
    seen = []
    carry_out(trainer, meanwhile=lambda run, step: seen.append((step, sorted(on_disk(trainer, run)))))
    assert seen[:5] == [(2, [2]), (4, [2, 4]), (6, [2, 4, 6]), (8, [4, 6, 8]), (10, [6, 8, 10])]


def test_the_best_stays(trainer, monkeypatch):
    """The snapshot of the lowest validation loss keeps both its files, until another is better."""
    losses = iter([5.0, 4.0, 3.0, 9.0, 8.0, 7.0, 2.0, 6.0, 6.0, 6.0])
    monkeypatch.setattr(arithmetic.ArithmeticSession, "validate", lambda _self: next(losses))
    seen = {}
    run = carry_out(trainer, meanwhile=lambda run, step: seen.setdefault(step, on_disk(trainer, run)))
    assert seen[12] == {6: BOTH, 8: {"weights"}, 10: {"weights"}, 12: BOTH}
    assert seen[14] == {10: {"weights"}, 12: {"weights"}, 14: BOTH}
    assert listed(trainer, run) == on_disk(trainer, run) == {14: BOTH, 16: {"weights"}, 18: {"weights"}, 20: BOTH}
    assert [each.step for each in trainer[0].snapshots(run.run_id).items if each.best] == [14]


@pytest.mark.parametrize(
    ("restore", "kinds"),
    [pytest.param("weights", {"weights"}, id="weights"), pytest.param("trainingState", BOTH, id="training-state")],
)
def test_what_a_child_holds_stays(trainer, restore, kinds):
    """A child that waits holds its source's weights and what it restores, whatever its parent saves afterwards."""
    catalog, home = trainer
    children = []

    def branch_at_four(run, step):
        if step == 4:
            children.extend(branching.branch(catalog, home, branching.snapshot_of(catalog, run, 4), restore=restore))

    run = carry_out(trainer, meanwhile=branch_at_four)
    assert on_disk(trainer, run) == listed(trainer, run)
    assert listed(trainer, run)[4] == kinds
    assert branching.snapshot_of(catalog, run, 4).held_by == (children[0].run_id,)
    catalog.request_cancel(children[0].run_id)
    assert catalog.sweep(branching.snapshot_of(catalog, run, 4).snapshot_id, BOTH) == frozenset()


def test_what_is_pinned_stays(trainer):
    """A pin holds the kinds that it names, and no others."""
    catalog, _ = trainer

    def pin_at_four(run, step):
        if step == 4:
            catalog.pin(branching.snapshot_of(catalog, run, 4).snapshot_id, ("trainingState",))

    run = carry_out(trainer, meanwhile=pin_at_four)
    assert listed(trainer, run)[4] == on_disk(trainer, run)[4] == {"trainingState"}
    assert branching.snapshot_of(catalog, run, 4).held_by == ("pin",)


def test_a_sweep_that_is_quicker_than_the_submission(trainer, monkeypatch):
    """The submission found the files and was about to commit: it is refused, and no child is left without a source."""
    catalog, home = trainer
    run = carry_out(trainer, {"execution.keepAdapters": 10})
    snapshot = branching.snapshot_of(catalog, run, 4)
    add = catalog.add_children

    def after_the_sweep(*args):
        assert catalog.sweep(snapshot.snapshot_id, BOTH) == {"weights"}
        return add(*args)

    monkeypatch.setattr(catalog, "add_children", after_the_sweep)
    with pytest.raises(errors.Refused, match="has no weights"):
        branching.branch(catalog, home, snapshot)
    assert catalog.branches(run.run_id).total == 0
    assert [place.name for place in home.runs.iterdir()] == [Path(run.folder).name]


def test_either_the_child_or_the_sweep(trainer):
    """Of a branch and a sweep at one moment one is first: the snapshot is held, or the branch is refused."""
    catalog, home = trainer
    run = carry_out(trainer, {"execution.keepAdapters": 10, "execution.keepTrainingStates": 10})
    for step in range(2, 20, 2):
        snapshot, both = branching.snapshot_of(catalog, run, step), threading.Barrier(2)
        children, swept = [], []

        def submit(snapshot=snapshot, both=both, children=children):
            both.wait()
            with suppress(errors.Refused):
                token = f"token-{snapshot.step}"
                children.extend(branching.branch(catalog, home, snapshot, restore="trainingState", token=token))

        def sweep(snapshot=snapshot, both=both, swept=swept):
            both.wait()
            swept.append(catalog.sweep(snapshot.snapshot_id, BOTH))

        threads = [threading.Thread(target=submit), threading.Thread(target=sweep)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert swept == [frozenset() if children else BOTH]


def test_what_a_crash_left_is_deleted_when_the_record_is_closed(trainer):
    """Between the commit and the deletion the process died: the file is in no record, and goes at the next occasion."""
    catalog, home = trainer
    run = carry_out(trainer, {"execution.keepAdapters": 10})
    snapshot = branching.snapshot_of(catalog, run, 4)
    assert catalog.sweep(snapshot.snapshot_id, BOTH) == {"weights"}
    assert on_disk(trainer, run)[4] == {"weights"}
    folder = home.path / run.folder
    closing.close(catalog, folder, run, phase="COMPLETED", code=None, reason=None)
    assert 4 not in on_disk(trainer, run)
    assert "snapshots/4/weights" not in (folder / "checksums.txt").read_text()


def test_the_files_of_another_save_are_left_alone(trainer):
    """A later attempt saved the same update again: what was given up of the earlier one is not its file."""
    catalog, home = trainer
    run = carry_out(trainer, {"execution.keepAdapters": 10})
    place = artifacts.place(home.path / run.folder, 4)
    (place / artifacts.MANIFEST).write_text("{}")
    catalog.sweep(branching.snapshot_of(catalog, run, 4).snapshot_id, BOTH)
    retention.tidy(catalog, home.path / run.folder, run)
    assert on_disk(trainer, run)[4] == {"weights"}


def test_a_file_that_cannot_be_deleted_ends_no_run(trainer, monkeypatch):
    """It wastes room, no more; the catalog says that it is swept."""
    unlink = Path.unlink

    def refuse(path, missing_ok=False):
        if path.name == artifacts.WEIGHTS:
            raise PermissionError(1, "Operation not permitted", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    run = carry_out(trainer)
    assert set(on_disk(trainer, run)) == set(range(2, 21, 2))
    assert set(listed(trainer, run)) == {16, 18, 20}


def test_a_save_that_the_catalog_never_heard_of_goes_when_the_record_is_closed(trainer):
    """Whoever saved it died, or found no room, before the commit; what is no save is left alone."""
    catalog, home = trainer
    run = carry_out(trainer)
    folder = home.path / run.folder
    for name in ("7", "notes"):
        (folder / "snapshots" / name).mkdir()
        (folder / "snapshots" / name / "file").write_text("something")
    retention.tidy(catalog, folder, run)
    assert not (folder / "snapshots" / "7").exists()
    assert (folder / "snapshots" / "notes" / "file").exists()
    assert (folder / "snapshots" / "20" / artifacts.TRAINING_STATE).exists()
