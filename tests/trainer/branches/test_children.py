"""What a child takes from its parent, and what from its point."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import life, parents

from akka_optimize.core import plans, points
from akka_optimize.trainer import branches, resolve
from akka_optimize.trainer.branches.children import epochs

SIZE = "hyperparams.training.sequencesPerUpdate"
SOURCE = {"source.restore", "source.weights", "source"}


def resolved(trainer, snapshot, *changes, **other):
    """The points of a fan, as a dry run tells them."""
    return branches.validate(*trainer, parents.asked(snapshot, *changes, **other)).points


def submitted(trainer, snapshot, *changes, **other):
    """The children of a fan, as the catalog has them."""
    made = branches.submit(*trainer, parents.asked(snapshot, *changes, **other)).points
    return [trainer[0].run(point.child_run_id) for point in made]


def paths(run, other):
    """The settings in which two plans differ."""
    return {found.path for found in plans.differences(run.plan, other.plan)}


def test_a_child_inherits_what_decides_and_not_who_the_parent_is(trainer, parent, snapshot):
    """Configuration, workload, base model, rows, grader and execution; not name, purpose and description."""
    (child,) = submitted(trainer, snapshot, {parents.RATE: 2e-5})
    for same in ("workload_id", "base_model", "dataset", "dataset_name", "grader", "execution", "division", "seed"):
        assert getattr(child, same) == getattr(parent, same), same
    assert (child.name, child.purpose, child.description) == (None, None, None)
    assert (child.config_name, child.submission_id, child.steps) == ("learningRate=2e-05", "token", 30)
    assert child.stated == ("config.hyperparams.optimizer.learningRate", "config.hyperparams.training.maxSteps")


def test_a_child_differs_from_its_parent_by_its_point_its_source_and_its_horizon(trainer, parent, snapshot):
    """And by nothing else, however many fields the point sets."""
    changes = {parents.RATE: 2e-5, parents.RANK: 4, "seed": 9, "model.precision": "FP32"}
    plain, changed = submitted(trainer, snapshot, {}, changes)
    horizon = "hyperparams.training.steps"
    assert paths(plain, parent) - SOURCE == {horizon}
    assert paths(changed, parent) - SOURCE == {parents.RATE, parents.RANK, "seed", horizon}


def test_two_points_differ_in_the_axes_whose_values_differ(trainer, snapshot):
    """So that a comparison of two children names just what was varied."""
    a, b, c = submitted(trainer, snapshot, *({parents.RATE: r, parents.RANK: k} for r, k in [(1, 4), (1, 8), (2, 8)]))
    assert paths(a, b) == {parents.RANK}
    assert paths(b, c) == {parents.RATE}
    assert paths(a, c) == {parents.RATE, parents.RANK}


@pytest.mark.parametrize("restore", ["weights", "trainingState"])
def test_the_plan_names_the_weights_by_their_digest(trainer, parent, snapshot, restore):
    """Anyone can check with sha256sum which file a child started from."""
    (child,) = submitted(trainer, snapshot, {parents.RATE: 2e-5}, restore=restore)
    folder = trainer[1].path / parent.folder / "snapshots" / "10"
    digest = json.loads((folder / "manifest.json").read_text())["files"]["weights.safetensors"]["sha256"]
    assert child.plan["source"] == {"weights": digest, "restore": restore}
    assert (trainer[1].path / child.folder / "config.json").read_text() == plans.plan_text(child.plan)


def test_equal_children_of_equal_weights_have_one_plan(trainer, snapshot):
    """Neither the token, the description nor the order of paths is in the plan; the restore is."""
    changes = {parents.RATE: 1, parents.RANK: 8}
    turned = dict(reversed(changes.items()))
    first, *others = (
        resolved(trainer, snapshot, changes)[0],
        resolved(trainer, snapshot, turned, submission_id="other", description="other")[0],
        resolved(trainer, snapshot, {parents.RATE: 1.0, parents.RANK: 8})[0],
    )
    assert {other.config_hash for other in others} == {first.config_hash}
    assert resolved(trainer, snapshot, changes, steps=31)[0].config_hash != first.config_hash


def test_values_have_the_type_of_their_field(trainer, snapshot):
    """A whole number for a float is a float, in the plan and in what is reported."""
    (point,) = resolved(trainer, snapshot, {parents.RATE: 1})
    assert repr(point.changes[parents.RATE]) == "1.0"
    assert repr(point.config["hyperparams"]["optimizer"]["learningRate"]) == "1.0"


@pytest.mark.parametrize(
    ("size", "per_pass", "accumulation"),
    [
        pytest.param(12, 3, 4, id="unchanged"),
        pytest.param(24, 3, 8, id="divides"),
        pytest.param(3, 3, 1, id="divides-once"),
        pytest.param(8, 8, 1, id="does-not-divide"),
        pytest.param(1, 1, 1, id="smaller-than-a-pass"),
    ],
)
def test_sequences_per_pass_are_inherited_where_they_divide(trainer, snapshot, size, per_pass, accumulation):
    """Else they are what they are by default."""
    (child,) = submitted(trainer, snapshot, {SIZE: size})
    assert child.division.sequences_per_update == size
    assert (child.division.sequences_per_pass, child.division.accumulation) == (per_pass, accumulation)
    assert child.execution["sequencesPerPass"] == per_pass


def test_the_horizon_is_the_fans(trainer, snapshot):
    """`maxSteps` is the number of updates, and `epochs` says how often they go through the child's rows."""
    (child,) = submitted(trainer, snapshot, {SIZE: 6})
    training = child.config["hyperparams"]["training"]
    assert (training["maxSteps"], training["epochs"]) == (30, 30 * 6 / 36)
    assert child.plan["hyperparams"]["training"]["steps"] == plans.horizon(child.config, 36) == 30


@given(steps=st.integers(1, 10**9), rows=st.integers(1, 10**6), size=st.integers(1, 4096))
def test_epochs_ask_for_all_updates(steps, rows, size):
    """The configuration alone comes to the very number of updates, whatever the rows."""
    training = {"epochs": epochs(steps, rows=rows, size=size), "maxSteps": steps, "sequencesPerUpdate": size}
    assert plans.horizon({"hyperparams": {"training": training}}, rows) == steps


def test_a_point_may_name_other_rows(trainer, parent, snapshot):
    """They are counted anew; without such a change the parent's rows stay, even when their name has moved on."""
    catalog, home = trainer
    other = life.add_rows(home, catalog, [life.row(f"other {i}", "yes") for i in range(20)], "other-rows")
    catalog.name_dataset(life.ROWS, other)
    same, named, moved = submitted(
        trainer, snapshot, {"seed": 3}, {"dataset": "other-rows"}, {"dataset": life.ROWS, "seed": 5}
    )
    assert (same.dataset, same.dataset_name, same.training_rows) == (parent.dataset, parent.dataset_name, 36)
    assert (named.dataset, named.dataset_name, named.training_rows) == (other, "other-rows", 18)
    assert moved.dataset == other
    assert (home.path / named.folder / "data.jsonl").samefile(home.datasets / f"{other}.jsonl")


def test_run_json_tells_the_parent_and_the_changes(trainer, parent, snapshot):
    """And the label, the token and the description; a run without a parent tells neither."""
    (child,) = submitted(trainer, snapshot, {parents.RATE: 2e-5}, description="why")
    told = json.loads((trainer[1].path / child.folder / "run.json").read_text())
    assert told["parent"] == {
        "runId": parent.run_id,
        "snapshotId": snapshot.snapshot_id,
        "step": 10,
        "restore": "weights",
    }
    assert told["changes"] == {parents.RATE: 2e-5}
    assert (told["configName"], told["submissionId"], told["description"]) == ("learningRate=2e-05", "token", "why")
    assert "parent" not in json.loads((trainer[1].path / parent.folder / "run.json").read_text())


def test_a_child_can_have_children(trainer, snapshot):
    """From what it saved itself; the chain goes back to the root."""
    catalog, home = trainer
    (child,) = submitted(trainer, snapshot, {parents.RATE: 2e-5})
    parents.carry_out(catalog, home)
    (own, *_) = catalog.snapshots(child.run_id).items
    (grandchild,) = submitted(trainer, own, {}, submission_id="deeper")
    assert [run.run_id for run in catalog.ancestry(grandchild.run_id).items] == [
        snapshot.run_id,
        child.run_id,
        grandchild.run_id,
    ]


def test_a_very_long_label_is_cut_as_a_name(trainer, snapshot):
    """A point of many fields has its whole label in the report, and a name that a run can have."""
    values = {
        "seed": 2**32 - 1,
        "hyperparams.training.validationFrequencySteps": 1000,
        "hyperparams.training.validationShare": 0.123456789012,
    }
    values |= {f"hyperparams.optimizer.{name}": 0.123456789012 for name in ("beta1", "beta2", "weightDecay", "epsilon")}
    values |= {"hyperparams.optimizer.maxGradNorm": 0.123456789012, parents.RATE: 0.123456789012}
    (point,) = branches.submit(*trainer, parents.asked(snapshot, values)).points
    assert point.label == points.label(values)
    name = trainer[0].run(point.child_run_id).config_name
    assert len(name) == 200
    assert point.label.startswith(name[:-1])


def noted(function, name, calls):
    """The function, whose calls are written down."""
    return lambda *args: (calls.append(name), function(*args))[1]


def test_what_points_share_is_looked_up_once(trainer, snapshot, monkeypatch):
    """Fifty points that change no rows measure, read and split the rows once."""
    calls = []
    for name in ("lengths", "_split"):
        really = getattr(resolve, name)
        monkeypatch.setattr(
            resolve, name, lambda *args, name=name, really=really: (calls.append(name), really(*args))[1]
        )
    resolved(trainer, snapshot, *parents.rates(50))
    assert calls == ["lengths", "_split"]


def test_the_change_is_recorded_as_the_change(trainer, parent, snapshot):
    """From the parent's value to the child's, by path in the plan; neither source nor horizon, and equal values not."""
    changes = {parents.RATE: 2e-5, parents.RANK: 4, "seed": parent.seed}
    plain, one, two = submitted(trainer, snapshot, {}, {parents.RATE: 1}, changes)
    rate = {"path": parents.RATE, "from": parent.config["hyperparams"]["optimizer"]["learningRate"]}
    rank = {"path": parents.RANK, "from": parent.config["hyperparams"]["lora"]["rank"], "to": 4}
    assert plain.changed == ()
    assert one.changed == ({**rate, "to": 1.0},)
    assert two.changed == (rank, {**rate, "to": 2e-5})
    told = json.loads((trainer[1].path / two.folder / "run.json").read_text())
    assert told["changed"] == [*two.changed]


def test_other_rows_are_a_change_of_hashes(trainer, parent, snapshot):
    """Whatever names the rows have."""
    other = life.add_rows(trainer[1], trainer[0], [life.row(f"other {i}", "row") for i in range(40)], name="other")
    (child,) = submitted(trainer, snapshot, {"dataset": "other"})
    assert child.changed == ({"path": "dataset", "from": parent.dataset, "to": other},)
