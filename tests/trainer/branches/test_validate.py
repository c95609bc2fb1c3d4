"""What is wrong with a fan is said before anything is submitted: all of it, and nothing is stored."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import parents
from support.homes import CommandLine

from akka_optimize import errors
from akka_optimize.trainer import base_models, branches, delete
from akka_optimize.trainer.branches import children

RATE, RANK = parents.RATE, parents.RANK


def refused(trainer, asked, error):
    """The error of a validation, which is that of the submission too; neither stores anything."""
    state = CommandLine(trainer[1].path).state
    before = state()
    with pytest.raises(error) as caught:
        branches.validate(*trainer, asked)
    with pytest.raises(error) as again:
        branches.submit(*trainer, asked)
    assert str(again.value) == str(caught.value)
    assert state() == before
    return caught.value


def test_a_dry_run_tells_all_and_stores_nothing(trainer, snapshot):
    """Labels, ids, what each point resolves to, and how full the fan would be."""
    state = CommandLine(trainer[1].path).state
    before = state()
    told = branches.validate(*trainer, parents.asked(snapshot, {RATE: 1e-5, RANK: 8}, {RATE: 1e-5, RANK: 16}))
    assert state() == before
    assert (told.parent_run_id, told.snapshot_id) == (snapshot.run_id, snapshot.snapshot_id)
    assert (told.steps, told.restore, told.submission_id, told.notes) == (30, "weights", "token", ())
    assert [(point.index, point.label) for point in told.points] == [
        (0, "learningRate=1e-05, rank=8"),
        (1, "learningRate=1e-05, rank=16"),
    ]
    assert [(point.existing, point.phase) for point in told.points] == [(False, None)] * 2
    assert [point.config["hyperparams"]["lora"]["rank"] for point in told.points] == [8, 16]
    assert (told.fan.existing, told.fan.new, told.fan.total, told.fan.limit) == (0, 2, 2, 50)


def test_the_ids_of_a_dry_run_are_those_of_the_submission(trainer, snapshot):
    """Under the same token, whatever the order of the points and of their paths."""
    wanted = ({RATE: 1e-5, RANK: 8}, {RATE: 2e-5, RANK: 8})
    dry = branches.validate(*trainer, parents.asked(snapshot, *wanted))
    real = branches.submit(
        *trainer, parents.asked(snapshot, *[dict(reversed(point.items())) for point in wanted[::-1]])
    )
    assert {point.child_run_id for point in dry.points} == {point.child_run_id for point in real.points}


def test_every_fault_of_every_point_is_reported(trainer, snapshot):
    """Each with point, label, path and reason, those that only the trainer can tell among them."""
    points = (
        {RATE: 1e-5, RANK: 8},
        {RATE: -1.0, RANK: 300},
        {RATE: "1e-5"},
        {"maxSeqLength": 5000},
        {"dataset": "no-such-rows"},
        {"hyperparams.training.maxSteps": 10},
        {"execution.saveEvery": 1},
        {"hyperparams.lora.ranks": 8},
        {RANK: 8, RATE: 1e-5},
    )
    error = refused(trainer, parents.asked(snapshot, *points), errors.Invalid)
    first, *lines = error.message.splitlines()
    assert first == "8 of 9 points are faulty, and nothing was submitted:"
    assert error.field == RATE
    said = [
        r"point 1 (learningRate=-1.0, rank=300): hyperparams.optimizer.learningRate: -1.0 is out of range",
        r"point 1 (learningRate=-1.0, rank=300): hyperparams.lora.rank: 300 is out of range",
        r'point 2 (learningRate="1e-5"): hyperparams.optimizer.learningRate: "1e-5" is text',
        r"point 3 (maxSeqLength=5000): maxSeqLength: 5000 is more than the 4096 tokens",
        r"point 4 (dataset=no-such-rows): dataset: no dataset goes by 'no-such-rows'",
        r"point 5 (maxSteps=10): hyperparams.training.maxSteps: the horizon",
        r"point 6 (saveEvery=1): execution.saveEvery: ",
        r"point 7 (ranks=8): hyperparams.lora.ranks: no field of config; the nearest is hyperparams.lora.rank",
        r"point 8 (rank=8, learningRate=1e-05): hyperparams.lora.rank: the same as point 0",
    ]
    assert len(lines) == len(said)
    for line, beginning in zip(lines, said, strict=True):
        assert line.strip().startswith(beginning)


def test_one_fault_is_one_line(trainer, snapshot):
    """A single faulty value of a single point needs no heading."""
    error = refused(trainer, parents.asked(snapshot, {RATE: 1e-5}, {RANK: 300}), errors.Invalid)
    assert error.message.startswith("point 1 (rank=300): hyperparams.lora.rank: 300 is out of range; write")
    assert error.field == RANK


def test_the_faults_of_a_single_child_speak_of_no_point(trainer, snapshot):
    """Somebody who branches once has written no grid: each fault is told by its field alone."""
    error = refused(trainer, parents.asked(snapshot, {RANK: 300}), errors.Invalid)
    assert error.message.startswith("hyperparams.lora.rank: 300 is out of range; write")
    error = refused(trainer, parents.asked(snapshot, {RANK: 300, RATE: -1.0}), errors.Invalid)
    first, *lines = error.message.splitlines()
    assert first == "2 changes are faulty, and nothing was submitted:"
    assert [line.split(":")[0] for line in lines] == [f"  {RANK}", f"  {RATE}"]


@pytest.mark.parametrize("value", [2e-4, 1e-4], ids=["another", "the-parents"])
def test_a_training_state_takes_the_learning_rate_alone(trainer, snapshot, value):
    """Any other field is refused, even one set to what the parent has."""
    good = {RATE: value}
    assert branches.validate(*trainer, parents.asked(snapshot, good, restore="trainingState")).fan.new == 1
    points = (good, {RATE: 1e-3, RANK: 8}, {"hyperparams.optimizer.weightDecay": 0.0}, {"seed": 3})
    error = refused(trainer, parents.asked(snapshot, *points, restore="trainingState"), errors.Invalid)
    assert error.message.startswith("3 of 4 points are faulty")
    assert error.field == RANK


EVERY = "hyperparams.training.validationFrequencySteps"


def test_a_run_that_is_continued_may_validate_more_often(trainer, snapshot):
    """Learning rate and rhythm of validation change, one at a time or both; anything else is refused by its path."""
    state = {"restore": "trainingState", "continues": True}
    good = ({EVERY: 5}, {EVERY: 5, RATE: 1e-3}, {RATE: 1e-3}, {})
    told = branches.validate(*trainer, parents.asked(snapshot, *good, **state))
    assert [point.config["hyperparams"]["training"]["validationFrequencySteps"] for point in told.points][:2] == [5, 5]
    error = refused(trainer, parents.asked(snapshot, {EVERY: 5, "seed": 3}, {RANK: 8}, **state), errors.Invalid)
    assert error.field == "seed"
    assert f"{RANK}: a run that is continued takes {RATE} and {EVERY} alone" in error.message
    error = refused(trainer, parents.asked(snapshot, {EVERY: -1}, **state), errors.Invalid)
    assert error.field == EVERY


def test_a_run_is_continued_from_its_training_state(trainer, snapshot):
    """Weights alone are no place to go on from."""
    error = refused(trainer, parents.asked(snapshot, {RATE: 1e-3}, continues=True), errors.Invalid)
    assert (error.field, "trainingState" in error.message) == ("continues", True)


def test_too_few_rows_are_a_fault_of_their_point(trainer, snapshot):
    """A length that leaves no row to train on is reported with the others."""
    error = refused(trainer, parents.asked(snapshot, {"maxSeqLength": 8}, {RANK: 0}), errors.Invalid)
    assert "point 0 (maxSeqLength=8): maxSeqLength: dataset" in error.message
    assert "point 1 (rank=0)" in error.message


LONG = "x" * 10_240


@pytest.mark.parametrize(
    ("other", "error", "field"),
    [
        pytest.param({"steps": 0}, errors.Invalid, "steps", id="no-steps"),
        pytest.param({"steps": -1}, errors.Invalid, "steps", id="negative-steps"),
        pytest.param({"steps": 2**53}, errors.Invalid, "steps", id="too-many-steps"),
        pytest.param({"restore": "everything"}, errors.Invalid, "restore", id="restore"),
        pytest.param({"submission_id": ""}, errors.Invalid, "submissionId", id="empty-token"),
        pytest.param({"submission_id": LONG}, errors.Invalid, "submissionId", id="10-KB-token"),
        pytest.param({"submission_id": "x" * 129}, errors.Invalid, "submissionId", id="long-token"),
        pytest.param({"submission_id": "a b"}, errors.Invalid, "submissionId", id="space-in-token"),
        pytest.param({"submission_id": "a\x1bb"}, errors.Invalid, "submissionId", id="control-in-token"),
        pytest.param({"submission_id": "the-parents"}, errors.Conflict, "submissionId", id="a-runs-token"),
        pytest.param({"description": "a\0b"}, errors.Invalid, "description", id="description"),
        pytest.param({"points": ()}, errors.Invalid, "points", id="no-points"),
        pytest.param({"points": parents.rates(51)}, errors.Exhausted, "points", id="51-points"),
        pytest.param({"parent": "nobody"}, errors.NotFound, "parent", id="parent"),
        pytest.param({"parent": ""}, errors.Invalid, "parent", id="empty-parent"),
        pytest.param({"snapshot": "nothing"}, errors.NotFound, "snapshot", id="snapshot"),
        pytest.param({"snapshot": ""}, errors.Invalid, "snapshot", id="empty-snapshot"),
    ],
)
def test_what_no_fan_can_have(trainer, snapshot, other, error, field):
    """Each is refused with its field, and in a message that repeats no kilobytes."""
    asked = parents.asked(snapshot, {RATE: 1e-5}, **other)
    caught = refused(trainer, asked, error)
    assert caught.field == field
    assert len(caught.message) < 400


def test_another_runs_snapshot_is_refused(trainer, snapshot):
    """With the run that it is of."""
    other = parents.trained(*trainer)
    error = refused(trainer, parents.asked(snapshot, {RATE: 1e-5}, parent=other.run_id), errors.Refused)
    assert f"is of run {snapshot.run_id}" in error.message


def test_only_supervised_runs_have_children(trainer, parent):
    """A parent that was trained by another method is refused with it."""
    with pytest.raises(errors.Refused, match="trained by 'rl'") as caught:
        children.base_model(replace(parent, method="rl"))
    assert caught.value.field == "parent"


def test_another_base_model_of_the_same_name_is_refused(trainer, parent, monkeypatch):
    """A child would differ from its parent by more than its point."""
    newer = replace(base_models.find(parent.base_model), revision="f" * 64)
    monkeypatch.setattr(base_models, "find", lambda _ref: newer)
    with pytest.raises(errors.Refused, match="has revision ffffffffffff"):
        children.base_model(parent)


def weights(trainer, parent):
    """The file with the weights of the save at update 10."""
    return trainer[1].path / parent.folder / "snapshots" / "10" / "weights.safetensors"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(lambda path: path.unlink(), "weights.safetensors cannot be read: no such file", id="lost"),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes()[:-1]), "is not the file that was saved", id="torn"
        ),
        pytest.param(
            lambda path: path.with_name("manifest.json").write_text("{}"), "manifest is not the one", id="manifest"
        ),
    ],
)
@pytest.mark.parametrize("restore", ["weights", "trainingState"])
def test_a_spoilt_snapshot_starts_no_child(trainer, parent, snapshot, spoil, said, restore):
    """Its files are compared with what was saved before anything names them."""
    spoil(weights(trainer, parent))
    error = refused(trainer, parents.asked(snapshot, {RATE: 1e-5}, restore=restore), errors.Refused)
    assert said in error.message
    assert error.field == "snapshot"


def test_a_swept_training_state_still_leaves_weights(trainer, snapshot):
    """What was swept is said; what is left can be restored."""
    trainer[0].sweep(snapshot.snapshot_id, ["trainingState"])
    error = refused(trainer, parents.asked(snapshot, {RATE: 1e-5}, restore="trainingState"), errors.Refused)
    assert (error.field, "no trainingState any more" in error.message) == ("restore", True)
    assert branches.validate(*trainer, parents.asked(snapshot, {RATE: 1e-5})).fan.new == 1


def test_a_smaller_rank_tells_what_it_loses(trainer, snapshot):
    """A truncated adapter has its relative error in the resolved point; others have none."""
    points = branches.validate(*trainer, parents.asked(snapshot, {RANK: 4}, {RANK: 8}, {RANK: 16}, {RATE: 1e-5})).points
    small, *others = [point.restore_error for point in points]
    assert small is not None
    assert 0 <= small <= 1
    assert others == [None] * 3
    branches.submit(*trainer, parents.asked(snapshot, {RANK: 4}))
    again = branches.validate(*trainer, parents.asked(snapshot, {RANK: 4})).points[0]
    assert (again.existing, again.restore_error) == (True, small)


def test_what_is_probably_not_meant_is_noted_once(trainer, snapshot):
    """A warm-up longer than the horizon, of however many points, is one note."""
    warm = [{"hyperparams.optimizer.warmupSteps": 40, RATE: rate} for rate in (1e-5, 2e-5)]
    (note,) = branches.validate(*trainer, parents.asked(snapshot, *warm)).notes
    assert "warmupSteps: 40 is more than the run's 30 updates" in note


def test_a_dry_run_counts_as_a_submission_does(trainer, snapshot):
    """A fan without room is refused before anything is submitted, with what is there by phase."""
    branches.submit(*trainer, parents.asked(snapshot, *parents.rates(30)))
    trainer[0].request_cancel(trainer[0].branches(snapshot.run_id).items[0].run_id)
    full = parents.asked(snapshot, *parents.rates(30, first=100), submission_id="other")
    error = refused(trainer, full, errors.Exhausted)
    assert "30 branches exist (29 QUEUED, 1 CANCELLED); 30 more make 60" in error.message
    assert branches.validate(*trainer, parents.asked(snapshot, *parents.rates(50))).fan.new == 20


def test_a_dry_run_refuses_a_deleted_childs_point(trainer, snapshot):
    """With the id that is spent."""
    (point,) = branches.submit(*trainer, parents.asked(snapshot, {RATE: 1e-5})).points
    trainer[0].request_cancel(point.child_run_id)
    delete.delete(*trainer, point.child_run_id)
    error = refused(trainer, parents.asked(snapshot, {RATE: 2e-5}, {RATE: 1e-5}), errors.Refused)
    assert error.message.startswith(f"child run {point.child_run_id} was deleted")
