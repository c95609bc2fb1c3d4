"""What a child starts from is checked before it is read, and its loss is said."""

from __future__ import annotations

import json

import pytest
from support import branching, life

from akka_optimize.trainer import artifacts, claims, start
from akka_optimize.trainer.worker import attempt, source
from akka_optimize.trainer.worker.drain import Stop

BOTH = {"execution.saveEvery": 10, "execution.keepTrainingStates": 2}
CONSTANT = {"config.hyperparams.optimizer.schedule": "constant"}


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def take(trainer):
    """Carry out the run that waits."""
    catalog, home = trainer
    run, lock = claims.take(catalog, home)
    with lock:
        attempt.Attempt(catalog, home, run, Stop()).carry_out()
    return catalog.run(run.run_id)


@pytest.fixture
def parent(trainer):
    """A run of 20 updates that saved after 10 and 20 of them."""
    start.start(*trainer, life.descriptor(BOTH | CONSTANT))
    run = take(trainer)
    assert run.phase == "COMPLETED"
    return run


def losses(trainer, run):
    """The run's loss curve."""
    from akka_optimize.protocol import convert

    return convert.metrics(trainer[0].metrics(run.run_id)).columns["loss"].values.tolist()


def files_of(trainer, parent, step=10):
    """Where the parent's snapshot is."""
    return artifacts.place(trainer[1].path / parent.folder, step)


def test_a_run_that_is_nobodys_child_has_no_source(trainer, parent):
    """It starts from the base model."""
    assert source.find(*trainer, parent) is None


@pytest.mark.parametrize("restore", ["weights", "trainingState"])
def test_a_child_gets_what_it_restores(trainer, parent, restore):
    """The files of the parent's snapshot; the training state only where it is asked for."""
    (child,) = branching.branch(*trainer, branching.snapshot_of(trainer[0], parent, 10), restore=restore)
    place = files_of(trainer, parent)
    state = place / artifacts.TRAINING_STATE if restore == "trainingState" else None
    assert source.find(*trainer, child) == source.Source(restore, place / artifacts.WEIGHTS, state)


def test_a_child_repeats_what_its_parent_would_have_done(trainer, parent):
    """From the training state after update 10, under the parent's rate: the parent's updates 11 to 20, bit for bit."""
    branching.branch(*trainer, branching.snapshot_of(trainer[0], parent, 10), restore="trainingState")
    child = take(trainer)
    assert (child.phase, child.observed_step, child.saved_step) == ("COMPLETED", 10, 10)
    assert losses(trainer, child) == losses(trainer, parent)[10:]
    assert [each.epoch for each in trainer[0].snapshots(child.run_id).items] == [
        branching.snapshot_of(trainer[0], parent, 20).epoch
    ]


def test_a_child_of_a_child_goes_on_from_there(trainer, parent):
    """Generations do not add up to anything but updates."""
    (child,) = branching.branch(
        *trainer, branching.snapshot_of(trainer[0], parent, 10), restore="trainingState", steps=4
    )
    take(trainer)
    snapshot = branching.snapshot_of(trainer[0], child, 4)
    branching.branch(*trainer, snapshot, restore="trainingState", steps=6, token="second")
    assert losses(trainer, take(trainer)) == losses(trainer, parent)[14:]


def gone(place):
    (place / artifacts.WEIGHTS).unlink()


def damaged(place):
    with (place / artifacts.WEIGHTS).open("r+b") as file:
        file.write(b"x")


def another_manifest(place):
    (place / artifacts.MANIFEST).write_text("{}")


def no_folder(place):
    place.rename(place.with_name("elsewhere"))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param(gone, "no such file", id="gone"),
        pytest.param(damaged, "not the file that was saved", id="damaged"),
        pytest.param(another_manifest, "another manifest", id="another-save"),
        pytest.param(no_folder, "no such file", id="no-folder"),
    ],
)
def test_a_source_that_is_lost_fails_the_run(trainer, parent, fault, said):
    """FAILED with a code of its own, the snapshot and the reason; another attempt would not help."""
    snapshot = branching.snapshot_of(trainer[0], parent, 10)
    branching.branch(*trainer, snapshot)
    fault(files_of(trainer, parent))
    child = take(trainer)
    assert (child.phase, child.failure_code, child.resumable) == ("FAILED", "SOURCE_LOST", False)
    assert said in child.failure_reason
    assert snapshot.snapshot_id[:12] in child.failure_reason
    assert trainer[0].run(parent.run_id) == parent


def test_only_what_is_restored_has_to_be_there(trainer, parent):
    """A child of the weights does not care for the training state."""
    branching.branch(*trainer, branching.snapshot_of(trainer[0], parent, 10))
    (files_of(trainer, parent) / artifacts.TRAINING_STATE).unlink()
    assert take(trainer).phase == "COMPLETED"


def test_the_plan_names_the_weights(trainer, parent):
    """What the child's plan says it started from is the digest of the file that it starts from."""
    (child,) = branching.branch(*trainer, branching.snapshot_of(trainer[0], parent, 10))
    manifest = json.loads((files_of(trainer, parent) / artifacts.MANIFEST).read_bytes())
    assert child.plan["source"] == {
        "weights": manifest["files"][artifacts.WEIGHTS]["sha256"],
        "restore": "weights",
    }
