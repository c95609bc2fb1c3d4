"""A run is queued again when all that it would go on from is there."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from support import branching, life, parents

from akka_optimize import errors
from akka_optimize.trainer import base_models, pause, resume, start

STATE, WEIGHTS, MANIFEST = "training-state.pt", "weights.safetensors", "manifest.json"


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def stopped(trainer, phase="FAILED"):
    """A run that saved after updates 10 and 20, and whose worker then died, or that was paused."""
    catalog, home = trainer
    run = parents.trained(catalog, home)
    stated = {"failure_code": "WORKER_LOST", "resumable": True} if phase == "FAILED" else {}
    return catalog.set_phase(run.run_id, phase, only_from=("COMPLETED",), **stated)


def flip(path):
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("phase", ["FAILED", "PAUSED"])
def test_it_is_queued_when_its_save_is_sound(trainer, phase):
    """By any reference; only the newest training state is needed, whatever has become of an older one."""
    catalog, home = trainer
    run = stopped(trainer, phase)
    flip(home.path / run.folder / "snapshots" / "10" / STATE)
    queued = resume.resume(catalog, home, run.run_id[:8])
    assert (queued.run_id, queued.phase, queued.failure_code) == (run.run_id, "QUEUED", None)
    with pytest.raises(errors.Refused, match="QUEUED already"):
        resume.resume(catalog, home, run.run_id)


@pytest.mark.parametrize("name", [STATE, MANIFEST])
@pytest.mark.parametrize("harm", [flip, lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_a_save_that_is_not_what_was_saved_is_named(trainer, name, harm):
    """The file's path is in the message, the way out in the hint, and the run stays as it was."""
    catalog, home = trainer
    run = stopped(trainer)
    path = home.path / run.folder / "snapshots" / "20" / name
    harm(path)
    with pytest.raises(errors.Refused, match="cannot go on") as caught:
        resume.resume(catalog, home, run.run_id)
    assert str(path) in caught.value.message
    assert f"repeat {run.run_id}" in caught.value.hint
    assert catalog.run(run.run_id) == run


def test_the_folder_is_gone(trainer):
    """A run without a record cannot go on; its plan can be started again."""
    catalog, home = trainer
    run = stopped(trainer)
    shutil.rmtree(home.path / run.folder)
    with pytest.raises(errors.Refused, match=r"folder of run .* is gone") as caught:
        resume.resume(catalog, home, run.run_id)
    assert "repeat" in caught.value.hint
    assert catalog.run(run.run_id) == run


def test_the_rows_are_gone(trainer):
    """It is said which, and the run waits for them to come back."""
    catalog, home = trainer
    run = stopped(trainer)
    for path in home.datasets.iterdir():
        path.unlink()
    with pytest.raises(errors.NotFound, match=run.dataset[:12]):
        resume.resume(catalog, home, run.run_id)
    assert catalog.run(run.run_id) == run


def test_the_base_model_is_another_one(trainer, monkeypatch):
    """A worker would fail the run for good, and so it is not queued."""
    catalog, home = trainer
    run = stopped(trainer)
    other = replace(life.model_entry(), revision="f" * 64)
    monkeypatch.setattr(base_models, "find", lambda _reference: other)
    with pytest.raises(errors.Refused, match="has revision ffffffffffff"):
        resume.resume(catalog, home, run.run_id)
    assert catalog.run(run.run_id) == run


def test_a_run_that_saved_nothing_begins_anew(trainer):
    """It needs nothing but its rows and its folder."""
    catalog, home = trainer
    run = pause.pause(catalog, home, start.start(catalog, home, life.descriptor()).run_id, "latest")
    assert resume.resume(catalog, home, run.run_id).phase == "QUEUED"


@pytest.mark.parametrize("whole", [True, False])
def test_a_child_that_saved_nothing_needs_its_source(trainer, whole):
    """It begins again from its parent's snapshot, and is refused with the file's name when that is damaged."""
    catalog, home = trainer
    parent = parents.trained(catalog, home)
    (child,) = branching.branch(catalog, home, branching.snapshot_of(catalog, parent, 10))
    pause.pause(catalog, home, child.run_id, "save")
    if whole:
        assert resume.resume(catalog, home, child.run_id).phase == "QUEUED"
        return
    path = home.path / parent.folder / "snapshots" / "10" / WEIGHTS
    flip(path)
    with pytest.raises(errors.Refused, match="cannot go on") as caught:
        resume.resume(catalog, home, child.run_id)
    assert str(path) in caught.value.message
    assert catalog.run(child.run_id).phase == "PAUSED"


@pytest.mark.parametrize("phase", ["COMPLETED", "CANCELLED", "FAILED"])
def test_what_is_over_is_not_looked_at(trainer, monkeypatch, phase):
    """A run that cannot be resumed is refused for that, whatever has become of its files."""
    catalog, home = trainer
    run = parents.trained(catalog, home)
    catalog.set_phase(run.run_id, phase, only_from=("COMPLETED",), failure_code="ENGINE_ERROR")
    shutil.rmtree(home.path / run.folder)
    with pytest.raises(errors.Refused, match=f"is {phase}") as caught:
        resume.resume(catalog, home, run.run_id)
    assert "repeat" in caught.value.hint


def test_a_resumed_run_ends_as_one_that_never_stopped(trainer):
    """After a fall back from update 20 to 10 the curve is that of an undisturbed twin, and the record says so."""
    catalog, home = trainer
    run = parents.trained(catalog, home)
    newest = branching.snapshot_of(catalog, run, 20)
    twin = parents.trained(catalog, home, {"config.seed": 0})
    catalog.set_phase(run.run_id, "PAUSED", only_from=("COMPLETED",))
    with catalog._database.write() as connection:  # as if the save of update 20 had never been committed
        connection.exec_driver_sql("DELETE FROM snapshots WHERE snapshot_id = ?", (newest.snapshot_id,))
    resume.resume(catalog, home, run.run_id)
    done = parents.carry_out(catalog, home)
    assert (done.phase, done.attempt, done.replaced_steps) == ("COMPLETED", 2, 10)
    found, expected = (dict(curve(catalog, each)) for each in (done, twin))
    assert found == expected


def curve(catalog, run):
    """Step and loss of a run, whoever recorded it."""
    for chunk in catalog.metrics(run.run_id, ["loss"]):
        for column in chunk.columns:
            yield from zip(column.steps or chunk.steps, column.values, strict=True)
