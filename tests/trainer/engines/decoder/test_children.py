"""A session that starts from a snapshot: what is restored, what is fresh, and that nothing else differs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support import decoding
from support.decoding import LORA, OPTIMIZER, advance, curve

from akka_optimize.errors import Refused
from akka_optimize.trainer.engines import Source, engine
from akka_optimize.trainer.engines.decoder import loop, schedule

CONSTANT = {f"{OPTIMIZER}.schedule": "constant"}
LINEAR = {f"{OPTIMIZER}.schedule": "linear"}


def start(settings=None, source=None, **kwargs):
    """A session of the built-in engine."""
    return engine("decoder").start(replace(decoding.job(settings, **kwargs), source=source))


def saved(session, folder, restore):
    """The session's snapshot, as a child's source."""
    folder.mkdir(exist_ok=True)
    held = session.hold()
    held.save_weights(folder / "weights.safetensors")
    held.save_training_state(folder / "training-state.pt")
    state = folder / "training-state.pt" if restore == "trainingState" else None
    return Source(restore, folder / "weights.safetensors", state)


def from_one(records):
    """The same records, counted from 1."""
    return [replace(record, step=number) for number, record in enumerate(records, 1)]


@pytest.fixture(scope="module")
def parent():
    """A session after three updates at a rate that changes much, with rank 8 and alpha 16."""
    session = start({f"{OPTIMIZER}.learningRate": 1e-2}, steps=3)
    curve(session)
    return session


@pytest.mark.parametrize(
    ("rank", "alpha"),
    [
        pytest.param(8, 16.0, id="as-it-was"),
        pytest.param(8, 40.0, id="other-scale"),
        pytest.param(16, 16.0, id="twice-the-rank"),
        pytest.param(16, 32.0, id="twice-both"),
        pytest.param(11, 3.0, id="odd"),
    ],
)
def test_restored_weights_are_the_same_function(parent, tmp_path, rank, alpha):
    """On the child's first rows the snapshot's model and the restored one have the same loss within 1e-5."""
    settings = {f"{LORA}.rank": rank, f"{LORA}.alpha": alpha, "config.seed": 5}
    child = start(settings, saved(parent, tmp_path, "weights"), steps=2)
    rows = [child.rows[i] for i in child.stream.update(0, 8)]
    before = loop.mean_loss(parent.model, rows)
    assert loop.mean_loss(child.model, rows) == pytest.approx(before, abs=1e-5)
    fresh = start(settings, steps=2)
    assert loop.mean_loss(fresh.model, rows) != pytest.approx(before, abs=1e-2), "the parent had learned nothing"
    assert next(child.steps()).loss == pytest.approx(before, abs=1e-5)


def test_restored_weights_that_fit_are_the_same_bits(parent, tmp_path):
    """Same rank and alpha: every tensor is the snapshot's."""
    child = start(source=saved(parent, tmp_path, "weights"))
    assert all(torch.equal(child.adapter[name], parent.adapter[name]) for name in parent.adapter)


def test_only_the_weights_are_restored(parent, tmp_path):
    """The child reads the rows, counts, warms up and draws as a run of its own: as one that was given these weights."""
    settings = {f"{LORA}.dropout": 0.3, f"{OPTIMIZER}.warmupSteps": 1}
    child = start(settings, saved(parent, tmp_path, "weights"), steps=3)
    other = start(settings, steps=3)
    with torch.no_grad():
        for name, parameter in other.adapter.items():
            parameter.copy_(parent.adapter[name])
    assert child.epoch() == 0.0
    assert curve(child) == curve(other)


def test_new_directions_come_from_the_childs_seed(parent, tmp_path):
    """Two children that differ in seed have the parent's rows of A, and further rows of their own."""
    source = saved(parent, tmp_path, "weights")
    name = "blocks.0.attention.qkv.A"
    children = [start({f"{LORA}.rank": 12, "config.seed": seed}, source).adapter[name] for seed in (1, 1, 2)]
    assert all(torch.equal(rows[:8], parent.adapter[name]) for rows in children)
    assert torch.equal(children[0], children[1])
    assert not torch.equal(children[0][8:], children[2][8:])
    assert children[0][8:].abs().min() > 0


def test_a_smaller_rank_is_near(parent, tmp_path):
    """Cut to rank 4 the loss is near the parent's, and nearer than the base model's."""
    child = start({f"{LORA}.rank": 4, "config.seed": 5}, saved(parent, tmp_path, "weights"), steps=2)
    rows = [child.rows[i] for i in child.stream.update(0, 8)]
    before, after = (loop.mean_loss(session.model, rows) for session in (parent, child))
    fresh = loop.mean_loss(start({"config.seed": 5}).model, rows)
    assert abs(after - before) < 0.2 * abs(fresh - before)


def test_weights_that_are_not_finite_are_restored_as_they_are(tmp_path):
    """A child of a run that went to NaN says so in its first loss; at a smaller rank it is refused."""
    broken = start({f"{OPTIMIZER}.learningRate": 1e30}, steps=2)
    curve(broken)
    source = saved(broken, tmp_path, "weights")
    assert not torch.tensor(next(start(source=source).steps()).loss).isfinite()
    with pytest.raises(Refused, match="not finite"):
        start({f"{LORA}.rank": 2}, source)


@pytest.mark.parametrize("dropout", [0.0, 0.1], ids=["no-dropout", "dropout"])
@pytest.mark.parametrize("chats", [80, 24], ids=["mid-epoch", "across-an-epoch"])
def test_a_training_state_goes_on_bit_for_bit(tmp_path, dropout, chats):
    """A child of four updates, from update 4, repeats what a parent of eight did from there: every number, all bits."""
    settings = CONSTANT | {f"{LORA}.dropout": dropout}
    rows = decoding.rows(chats, longest=4)
    parent = start(settings, steps=8, chats=rows)
    advance(parent, 4)
    source = saved(parent, tmp_path, "trainingState")
    child = start(settings, source, steps=4, chats=rows)
    assert child.epoch() == parent.epoch() > 0
    whole = curve(parent)
    assert [record.step for record in whole] == [5, 6, 7, 8]
    assert curve(child) == from_one(whole)
    assert child.validate() == parent.validate()
    assert child.epoch() == parent.epoch()


def test_a_child_of_a_child_goes_on_bit_for_bit(tmp_path):
    """Two cuts change no more than one: the position is that of the whole line."""
    settings = CONSTANT | {f"{LORA}.dropout": 0.1}
    parent = start(settings, steps=6)
    advance(parent, 2)
    child = start(settings, saved(parent, tmp_path / "first", "trainingState"), steps=4)
    advance(child, 2)
    grandchild = start(settings, saved(child, tmp_path / "second", "trainingState"), steps=2)
    assert curve(grandchild) == from_one(curve(parent)[2:])
    state = torch.load(tmp_path / "second" / "training-state.pt", weights_only=True)
    assert state["position"] == {"step": 2, "steps": 4, "rowsTaken": 32}


def test_the_schedule_is_the_childs(tmp_path):
    """From a parent whose schedule has ended, a child starts at its own rate and falls over its own steps."""
    settings = LINEAR | {f"{OPTIMIZER}.learningRate": 1e-3}
    parent = start(settings, steps=2)
    curve(parent)
    changed = LINEAR | {f"{OPTIMIZER}.learningRate": 5e-4}
    child = start(changed, saved(parent, tmp_path, "trainingState"), steps=3)
    expected = [schedule.rate(t, steps=3, peak=5e-4, warmup=0, kind="linear") for t in (1, 2, 3)]
    records = curve(child)
    assert [record.learning_rate for record in records] == expected
    assert [record.step for record in records] == [1, 2, 3]


def test_the_optimizer_is_restored(tmp_path):
    """The first update differs from one with fresh moments: momentum is part of the state."""
    parent = start(CONSTANT, steps=3)
    curve(parent)
    states = [
        start(CONSTANT, saved(parent, tmp_path, restore), steps=2).optimizer.state_dict()["state"]
        for restore in ("trainingState", "weights")
    ]
    assert {int(entry["step"]) for entry in states[0].values()} == {3}
    assert states[1] == {}
