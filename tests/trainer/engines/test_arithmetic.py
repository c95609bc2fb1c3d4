"""The arithmetic engine: curves that follow from the plan, and faults on demand."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from support import life

from akka_optimize.errors import Invalid
from akka_optimize.trainer.engines import Source, arithmetic, engine

OPTIMIZER = "config.hyperparams.optimizer"
TRAINING = "config.hyperparams.training"


def curve(settings=None, **kwargs):
    """All records of one made-up run."""
    return list(engine("arithmetic").start(life.job(settings, **kwargs)).steps())


@pytest.fixture(autouse=True)
def no_knobs(monkeypatch):
    """No test inherits a fault or a delay."""
    monkeypatch.delenv("AKKA_ARITHMETIC_FAULT", raising=False)
    monkeypatch.delenv("AKKA_ARITHMETIC_STEP_SECONDS", raising=False)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    rate=st.floats(1e-6, 1.0),
    rank=st.integers(1, 64),
    schedule=st.sampled_from(["constant", "linear", "cosine"]),
    passes=st.sampled_from([1, 2, 4, 8]),
)
def test_equal_plans_give_equal_curves(seed, rate, rank, schedule, passes):
    """Two runs of one plan are equal in every column, however an update is divided."""
    chosen = {
        "config.seed": seed,
        "config.hyperparams.lora.rank": rank,
        f"{OPTIMIZER}.learningRate": rate,
        f"{OPTIMIZER}.schedule": schedule,
    }
    assert curve(chosen) == curve(chosen, passes=passes)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"config.seed": 1}, id="other-rows"),
        pytest.param({f"{OPTIMIZER}.learningRate": 1e-3}, id="ten-times-the-rate"),
        pytest.param({"config.hyperparams.lora.rank": 16}, id="twice-the-rank"),
        pytest.param({f"{TRAINING}.sequencesPerUpdate": 16}, id="more-rows-an-update"),
    ],
)
def test_another_plan_gives_another_curve(change):
    """What changes the plan changes the loss from the first update on."""
    assert curve()[0].loss != curve(change)[0].loss


def test_the_learning_rate_does_not_touch_the_rows():
    """Two runs that differ in the rate alone have the same noise: their difference is smooth."""
    difference = [a.loss - b.loss for a, b in zip(curve(), curve({f"{OPTIMIZER}.learningRate": 1e-3}), strict=True)]
    assert all(b > a for a, b in pairwise(difference[:10]))


def test_a_curve_does_not_depend_on_how_many_updates_are_computed_at_once():
    """Under a constant schedule, a shorter run is the beginning of a longer one, across the blocks."""
    constant = {f"{OPTIMIZER}.schedule": "constant", f"{OPTIMIZER}.learningRate": 1e-6}
    long = curve(constant, steps=2 * arithmetic.BLOCK + 5)
    assert curve(constant, steps=arithmetic.BLOCK + 3) == long[: arithmetic.BLOCK + 3]
    assert [step.step for step in long] == list(range(1, len(long) + 1))


def test_a_block_goes_on_where_the_one_before_ended(monkeypatch):
    """Computed in blocks of seven, a curve is the same to the last few bits."""
    whole = [step.loss for step in curve(steps=50)]
    monkeypatch.setattr(arithmetic, "BLOCK", 7)
    assert [step.loss for step in curve(steps=50)] == pytest.approx(whole, rel=1e-12)


def test_noise_is_splitmix64():
    """The noise is the published generator's, written out in Python's integers."""
    mask = 2**64 - 1
    state = int.from_bytes(hashlib.sha256(b"key").digest()[:8], "little")
    expected = []
    for _ in range(100):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        expected.append(float(z ^ (z >> 31)) / 2.0**63 - 1)
    assert arithmetic.noise_at("key", np.arange(100)).tolist() == expected


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
def test_the_rate_rises_through_the_warm_up_and_never_after(schedule):
    """Warm-up is a straight line to the peak; after it no schedule rises."""
    plan = life.job({f"{OPTIMIZER}.schedule": schedule, f"{OPTIMIZER}.warmupSteps": 4}, steps=12).plan
    rates = arithmetic.learning_rates(plan, np.arange(12)).tolist()
    assert rates[:4] == pytest.approx([1e-4 * k / 5 for k in (1, 2, 3, 4)], rel=1e-12)
    assert rates[4] == pytest.approx(1e-4)
    assert all(b <= a for a, b in pairwise(rates[4:]))


def test_faults_spoil_one_update(monkeypatch):
    """NaN and a spike are recorded as they are, and the updates around them are untouched."""
    clean = curve()
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "nan:5,spike:7")
    spoilt = curve()
    assert math.isnan(spoilt[4].loss)
    assert spoilt[6].grad_norm == 1000 * clean[6].grad_norm
    assert [s for s in spoilt if s.step not in (5, 7)] == [s for s in clean if s.step not in (5, 7)]


@pytest.mark.parametrize(("kind", "error"), [("raise", RuntimeError), ("memory", MemoryError), ("disk", OSError)])
def test_faults_raise_at_their_update(monkeypatch, kind, error):
    """The updates before the fault are yielded; the fault comes in place of its own."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", f"{kind}:4")
    steps = engine("arithmetic").start(life.job()).steps()
    assert [step.step for step in islice(steps, 3)] == [1, 2, 3]
    with pytest.raises(error):
        next(steps)


def test_a_fault_may_be_for_one_seed(monkeypatch):
    """KIND:STEP@SEED leaves runs of other seeds alone."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "raise:4@3")
    assert len(curve()) == 20
    with pytest.raises(RuntimeError):
        curve({"config.seed": 3})


@pytest.mark.parametrize("text", ["kill", "kill:", "kill:x", "melt:3", "kill:3@", "kill:-1"])
def test_a_fault_that_is_not_understood_is_refused(text):
    """A typing error in a test's knob is an error, and not a run without the fault."""
    with pytest.raises(Invalid, match="AKKA_ARITHMETIC_FAULT"):
        arithmetic.parse_faults(text, 0)


def test_validation_needs_held_out_rows():
    """With no row held out there is no validation loss; otherwise it falls as training goes on."""
    assert engine("arithmetic").start(life.job({f"{TRAINING}.validationShare": 0})).validate() is None
    session = engine("arithmetic").start(life.job())
    before = session.validate()
    list(session.steps())
    assert session.validate() < before
    assert session.epoch() == pytest.approx(20 * 8 / 36)


def test_saves_are_files_that_depend_on_the_update(tmp_path):
    """Weights are safetensors of the adapter's rank; the training state says where the run is."""
    session = engine("arithmetic").start(life.job())
    list(islice(session.steps(), 3))
    session.hold().save_weights(tmp_path / "weights.safetensors")
    session.hold().save_training_state(tmp_path / "state")
    assert load_file(tmp_path / "weights.safetensors")["made_up.A"].shape == (8, 4)
    assert json.loads((tmp_path / "state").read_text())["step"] == 3


def child_of(session, folder, restore, settings=None, **kwargs):
    """A session that starts from a snapshot of another."""
    weights, state = folder / "weights.safetensors", folder / "training-state.pt"
    session.hold().save_weights(weights)
    session.hold().save_training_state(state)
    source = Source(restore, weights, state if restore == "trainingState" else None)
    return engine("arithmetic").start(replace(life.job(settings, **kwargs), source=source))


@settings(deadline=None, max_examples=25)
@given(
    steps=st.integers(2, 30),
    cut=st.integers(1, 29),
    second=st.integers(1, 28),
    rate=st.floats(1e-3, 1e-2),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_training_state_goes_on_bit_for_bit(tmp_path_factory, steps, cut, second, rate, seed):
    """A child, and a child's child, repeat what the parent did from there under a constant schedule."""
    cut = min(cut, steps - 1)
    chosen = {f"{OPTIMIZER}.schedule": "constant", f"{OPTIMIZER}.learningRate": rate, "config.seed": seed}
    parent = engine("arithmetic").start(life.job(chosen, steps=steps))
    left = parent.steps()
    list(islice(left, cut))
    child = child_of(parent, tmp_path_factory.mktemp("one"), "trainingState", chosen, steps=steps - cut)
    assert child.epoch() == parent.epoch()
    whole = [replace(step, step=step.step - cut) for step in left]
    second = min(second, steps - cut)
    records = child.steps()
    assert list(islice(records, second)) == whole[:second]
    if second < steps - cut:
        last = child_of(child, tmp_path_factory.mktemp("two"), "trainingState", chosen, steps=steps - cut - second)
        assert [replace(step, step=step.step + second) for step in last.steps()] == whole[second:]


def test_restored_weights_go_on_in_their_own_rows(tmp_path):
    """The child has learned what the parent had, and then has the noise of its own first rows."""
    parent = engine("arithmetic").start(life.job())
    list(parent.steps())
    child = child_of(parent, tmp_path, "weights", steps=3)
    assert (child.validate(), child.epoch()) == (parent.validate(), 0.0)
    steps = list(child.steps())
    assert [step.step for step in steps] == [1, 2, 3]
    assert steps[0].loss < curve()[0].loss
    noise = arithmetic.noise_at(f"0/{'0' * 64}/8", np.arange(1))
    quiet = arithmetic.FLOOR + (child.validate() - arithmetic.FLOOR - 0.02)
    assert steps[0].loss == pytest.approx(quiet + 0.2 / math.sqrt(8) * noise[0], abs=0.05)


def test_no_torch_is_loaded():
    """Tests of a run's life do not pay for a deep-learning library."""
    code = (
        "import sys; from support import life; from akka_optimize.trainer.engines import engine;"
        "session = engine('arithmetic').start(life.job()); list(session.steps()); session.validate();"
        "print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=life.TESTS, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@settings(deadline=None, max_examples=25)
@given(
    steps=st.integers(2, 40),
    cuts=st.lists(st.integers(1, 39), max_size=3),
    schedule=st.sampled_from(["constant", "linear", "cosine"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_run_that_is_stopped_goes_on_bit_for_bit(tmp_path_factory, steps, cuts, schedule, seed):
    """Stopped anywhere, any number of times, under any schedule: updates, validation and epoch of one that was not."""
    chosen = {f"{OPTIMIZER}.schedule": schedule, f"{OPTIMIZER}.learningRate": 1e-2, "config.seed": seed}
    job = life.job(chosen, steps=steps)
    whole = engine("arithmetic").start(job)
    expected, found, session = list(whole.steps()), [], engine("arithmetic").start(job)
    for cut in sorted({min(cut, steps) for cut in cuts}):
        found += list(islice(session.steps(), cut - len(found)))
        path = tmp_path_factory.mktemp("held") / "state"
        session.hold().save_training_state(path)
        session = engine("arithmetic").start(replace(job, resume=path))
    found += list(session.steps())
    assert found == expected
    assert (session.validate(), session.epoch()) == (whole.validate(), whole.epoch())


def test_what_was_held_does_not_go_on(tmp_path):
    """A session that trains on leaves what it handed out as it was."""
    session = engine("arithmetic").start(life.job())
    steps = session.steps()
    next(steps)
    held = session.hold()
    list(steps)
    held.save_training_state(tmp_path / "state")
    assert json.loads((tmp_path / "state").read_text())["step"] == 1


def test_it_says_what_it_was_asked_for_and_made_of_it():
    """Names agree, and what setup changed is told."""
    session = engine("arithmetic").start(life.job())
    assert session.requested["config"].keys() == session.resolved["config"].keys()
    differing = {
        name
        for name, value in session.requested["config"].items()
        if value is not None and value != session.resolved["config"][name]
    }
    assert set(session.runtime()["trainer"]["changedBySetup"]) == differing == {"gpus"}
