"""A run in training: the same bits each time, the same curve however divided, nothing lost in a save."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace

import pytest
import torch
from support import decoding
from support.decoding import LORA, OPTIMIZER, TRAINING, curve

from akka_optimize.errors import Internal
from akka_optimize.trainer import base_models
from akka_optimize.trainer.engines import engine


def start(settings=None, **kwargs):
    """A session of the built-in engine."""
    return engine("decoder").start(decoding.job(settings, **kwargs))


def losses(session):
    """The loss of each update."""
    return [step.loss for step in session.steps()]


def test_runs_of_one_plan_repeat_bit_for_bit(tmp_path):
    """Every recorded number and the saved adapter are equal, dropout included."""
    files = []
    curves = []
    for name in ("a", "b"):
        session = start({f"{LORA}.dropout": 0.2})
        curves.append(curve(session))
        session.hold().save_weights(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert curves[0] == curves[1]
    assert files[0] == files[1]


def test_the_division_changes_no_loss():
    """1x8x1, 1x4x2 and 1x2x4 agree within 1e-4 in every step's loss over 20 steps of ragged rows."""
    whole, halves, quarters = (losses(start(steps=20, passes=passes)) for passes in (1, 2, 4))
    assert halves == pytest.approx(whole, abs=1e-4)
    assert quarters == pytest.approx(whole, abs=1e-4)
    assert whole[-1] < whole[0] - 0.1, "nothing was learned, so nothing was compared"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"config.seed": 1}, id="seed"),
        pytest.param({f"{OPTIMIZER}.learningRate": 1e-2}, id="rate"),
        pytest.param({f"{LORA}.dropout": 0.5}, id="dropout"),
    ],
)
def test_another_plan_gives_another_curve(change):
    """What the plan says reaches the arithmetic."""
    assert losses(start(steps=3)) != losses(start(change, steps=3))


def test_the_seed_decides_the_adapter():
    """Another seed draws another adapter, not only other rows."""
    name = "blocks.0.attention.qkv.A"
    first, again, other = (start({"config.seed": seed}).adapter[name] for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_each_update_takes_the_next_rows_of_the_stream():
    """In each epoch's order, by digest: the hold-out left out, no row twice before all were taken."""
    session = start({"config.seed": 3}, steps=6)

    def order(purpose):
        return sorted(range(24), key=lambda i: hashlib.sha256(f"3/{purpose}/{i}".encode()).digest())

    held_out = order("hold-out")[:2]
    stream = [i for epoch in range(3) for i in order(f"epoch/{epoch}") if i not in held_out]
    counts = [int(session.rows[i].trained[1:].sum()) for i in stream]
    expected = [sum(counts[8 * t : 8 * t + 8]) for t in range(6)]
    assert len(set(expected)) > 1
    assert [step.tokens for step in session.steps()] == expected


def test_validation_draws_nothing():
    """A curve with validations in between is, bit for bit, the one without, though dropout draws at every update."""
    settings = {f"{LORA}.dropout": 0.3}
    validated = start(settings)
    found = []
    for step in validated.steps():
        validated.validate()
        found.append(replace(step, seconds=0.0))
    assert found == curve(start(settings))


def test_validation_is_over_the_held_out_rows_alone():
    """It falls where the held-out rows are learned, is the same when asked again, and is None when none is held out."""
    session = start({f"{OPTIMIZER}.learningRate": 3e-3}, steps=12)
    before = session.validate()
    assert session.validate() == before
    assert sum(1 for _ in session.steps()) == 12
    assert session.validate() < before
    assert len(session.held_out) == round(0.1 * 24)
    assert start({f"{TRAINING}.validationShare": 0.0}).validate() is None


def test_a_loss_that_is_not_finite_is_recorded_as_it_is():
    """An enormous rate ends in NaN: every update is still made and recorded, none skipped, and validation says so."""
    session = start({f"{OPTIMIZER}.learningRate": 1e30})
    records = curve(session)
    assert [record.step for record in records] == [1, 2, 3, 4, 5]
    assert math.isfinite(records[0].loss)
    assert not math.isfinite(records[-1].loss)
    assert not math.isfinite(records[-1].grad_norm)
    assert not math.isfinite(session.validate())


def test_the_base_model_is_never_trained():
    """After an update only the adapter has changed."""
    session = start(steps=2)
    before = {name: tensor.clone() for name, tensor in session.model.state_dict().items()}
    losses(session)
    changed = {name for name, tensor in session.model.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed == set(session.adapter)


def test_an_epoch_is_once_through_the_training_rows():
    """24 rows, of which 2 are held out: after 11 updates of 8 rows each was seen four times."""
    session = start(steps=11)
    assert session.epoch() == 0.0
    losses(session)
    assert session.epoch() == 4.0


def test_rows_are_cut_to_the_plans_length():
    """No token beyond `maxSeqLength` is read, and rows with no answer left are not trained on."""
    session = start({"config.maxSeqLength": 40}, steps=3)
    assert max(len(row.ids) for row in session.rows) == 40
    fitting = {i for i, row in enumerate(session.rows) if row.fits(40)}
    assert 0 < len(fitting) < 24
    assert session.training < fitting


def test_half_precision_learns_nearly_the_same():
    """BF16 computes in bfloat16 beside a float32 adapter: finite, near the FP32 curve, and not equal to it."""
    half = start({"config.model.precision": "BF16"}, steps=4)
    found, exact = losses(half), losses(start(steps=4))
    assert {p.dtype for p in half.adapter.values()} == {torch.float32}
    assert found == pytest.approx(exact, abs=0.05)
    assert found != exact


@pytest.mark.parametrize("content", [b"", b"not weights at all"], ids=["empty", "garbage"])
def test_weights_that_are_not_the_revision_are_refused(monkeypatch, tmp_path, content):
    """A damaged file is never trained on."""
    damaged = tmp_path / "weights.safetensors"
    damaged.write_bytes(content)
    monkeypatch.setitem(base_models.FILES, decoding.MODEL, damaged)
    with pytest.raises(Internal, match="not revision"):
        start()


def test_weights_that_cannot_be_read_are_refused(monkeypatch, tmp_path):
    """A revision that is no safetensors file is a fault of the package, said in one sentence."""
    damaged = tmp_path / "weights.safetensors"
    damaged.write_bytes(b"not weights at all")
    monkeypatch.setitem(base_models.FILES, decoding.MODEL, damaged)
    job = decoding.job()
    entry = replace(job.base_model, revision=base_models.digest(damaged))
    with pytest.raises(Internal, match="cannot be read"):
        engine("decoder").start(replace(job, base_model=entry))
