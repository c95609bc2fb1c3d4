"""A run that stopped and went on: every number and every file of one that never stopped, bit for bit."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import pytest
import torch
from support import decoding
from support.decoding import LORA, OPTIMIZER, advance, curve

from akka_optimize.errors import Refused
from akka_optimize.trainer.engines import Source, engine

CHATS = decoding.rows(24, longest=2)  # 22 to train on: three updates are more than an epoch
MANY = decoding.rows(80, longest=2)
DROPOUT = {f"{LORA}.dropout": 0.2}
COSINE = {f"{OPTIMIZER}.schedule": "cosine", f"{OPTIMIZER}.warmupSteps": 2}
HARD = DROPOUT | COSINE


def start(settings=None, *, resume=None, source=None, **kwargs):
    """A session of the built-in engine, on short rows."""
    job = decoding.job(settings, **({"chats": CHATS} | kwargs))
    return engine("decoder").start(replace(job, resume=resume, source=source))


def validated(session, updates):
    """The records of the next updates, each with the validation loss after it."""
    steps = session.steps()
    return [(replace(next(steps), seconds=0.0), session.validate()) for _ in range(updates)]


def files(session, folder):
    """The bytes of the session's two files."""
    held = session.hold()
    held.save_weights(folder / "weights")
    held.save_training_state(folder / "state")
    return [(folder / name).read_bytes() for name in ("weights", "state")]


def stopped(folder, settings, updates, **kwargs):
    """The training state of a run that stopped after some updates."""
    session = start(settings, **kwargs)
    try:
        advance(session, updates)
        session.hold().save_training_state(folder / "stopped.pt")
    finally:
        session.close()
    return folder / "stopped.pt"


@pytest.mark.parametrize(
    ("settings", "at", "more"),
    [
        pytest.param({}, 2, {"chats": MANY}, id="mid-epoch"),
        pytest.param({}, 4, {}, id="second-epoch"),
        pytest.param({}, 2, {"passes": 4}, id="accumulation"),
        pytest.param(DROPOUT, 3, {"passes": 2}, id="dropout"),
        pytest.param({f"{OPTIMIZER}.schedule": "linear", f"{OPTIMIZER}.warmupSteps": 3}, 2, {}, id="warm-up"),
        pytest.param({f"{OPTIMIZER}.schedule": "linear"}, 3, {}, id="linear"),
        pytest.param({f"{OPTIMIZER}.schedule": "constant", f"{OPTIMIZER}.maxGradNorm": 0.1}, 3, {}, id="clipped"),
        pytest.param({"config.model.precision": "BF16"}, 2, {}, id="half-precision"),
        pytest.param({f"{OPTIMIZER}.learningRate": 1e30}, 2, {}, id="not-finite"),
    ],
)
def test_a_resumed_run_is_one_that_never_stopped(tmp_path, settings, at, more):
    """Every step's numbers, the validation losses in between, and the saved files."""
    one = start(settings, **more)
    whole = validated(one, 5)
    resumed = start(settings, resume=stopped(tmp_path, settings, at, **more), **more)
    assert repr(validated(resumed, 5 - at)) == repr(whole[at:])  # NaN is NaN
    assert resumed.epoch() == one.epoch() > 0
    assert files(resumed, tmp_path) == files(one, tmp_path)


def test_a_run_may_stop_after_any_update(tmp_path):
    """Dropout, accumulation, warm-up, cosine, two epochs: stopped after each update in turn, the rest is the same."""
    one = start(HARD, passes=2, steps=6)
    whole = []
    for step in one.steps():
        whole.append(replace(step, seconds=0.0))
        one.hold().save_training_state(tmp_path / f"{step.step}")
    for at in range(1, 7):
        resumed = start(HARD, passes=2, steps=6, resume=tmp_path / f"{at}")
        assert resumed.steps_done == at
        assert curve(resumed) == whole[at:]


def test_a_run_may_stop_again_and_again(tmp_path):
    """One update an attempt: the curve and the last files are those of a single attempt."""
    one = start(HARD, steps=4)
    whole, at, found = curve(one), None, []
    for _ in range(4):
        session = start(HARD, steps=4, resume=at)
        found += advance(session, 1)
        at = tmp_path / "state"
        last = files(session, tmp_path)
    assert found == whole
    assert last == files(one, tmp_path)


def test_a_run_that_stops_before_its_first_update_saves_what_it_resumed(tmp_path):
    """A state that is loaded and saved again is the same file, the rate of its last update included."""
    at = stopped(tmp_path, HARD, 4)  # a rate below the peak
    assert files(start(HARD, resume=at), tmp_path)[1] == at.read_bytes()


def test_a_child_that_stopped_goes_on_in_its_own_line(tmp_path):
    """A child of a training state, stopped and resumed: its own steps, and the position of its whole line."""
    settings = HARD | {f"{OPTIMIZER}.schedule": "constant"}
    parent = start(settings)
    advance(parent, 3)
    held = parent.hold()
    held.save_weights(tmp_path / "weights")
    held.save_training_state(tmp_path / "parent.pt")
    source = Source("trainingState", tmp_path / "weights", tmp_path / "parent.pt")
    one = start(settings, source=source, steps=4)
    whole = curve(one)
    at = tmp_path / "child.pt"
    child = start(settings, source=source, steps=4)
    advance(child, 2)
    child.hold().save_training_state(at)
    resumed = start(settings, source=source, resume=at, steps=4)
    assert resumed.epoch() == child.epoch()
    assert curve(resumed) == whole[2:]
    assert files(resumed, tmp_path) == files(one, tmp_path)


def test_a_resumed_child_needs_its_source_no_more(tmp_path):
    """What it started from is behind it: a source that is gone by then is not looked at."""
    at = stopped(tmp_path, {}, 1)
    gone = Source("weights", tmp_path / "gone", None)
    assert curve(start(source=gone, resume=at)) == curve(start())[1:]


def test_the_settings_are_the_plans(tmp_path):
    """A training state brings moments, and no setting of the optimizer: those come from the run's own plan."""
    at = stopped(tmp_path, {f"{OPTIMIZER}.weightDecay": 0.5}, 1)
    assert start({f"{OPTIMIZER}.weightDecay": 0.25}, resume=at).optimizer.param_groups[0]["weight_decay"] == 0.25


def test_two_processes_go_on_bit_for_bit(tmp_path):
    """Each process's dropout goes on where it stood: a run on two devices, stopped and resumed, equals one that ran."""
    one = start(DROPOUT, devices=2, passes=2, steps=4)
    try:
        whole = advance(one, 4)
        expected = [one.validate(), *files(one, tmp_path)]
    finally:
        one.close()
    at = stopped(tmp_path, DROPOUT, 2, devices=2, passes=2, steps=4)
    resumed = start(DROPOUT, devices=2, passes=2, steps=4, resume=at)
    try:
        assert curve(resumed) == whole[2:]
        assert [resumed.validate(), *files(resumed, tmp_path)] == expected
    finally:
        resumed.close()
    with pytest.raises(Refused, match="generators of 2 processes, and the run has 1"):
        start(DROPOUT, steps=4, resume=at)


def test_without_dropout_the_devices_may_change(tmp_path):
    """Where nothing is drawn, a state of two processes goes on in one."""
    session = start(steps=3)
    advance(session, 1)
    session.hold().save_training_state(tmp_path / "one")
    state = torch.load(tmp_path / "one", weights_only=True)
    state["generators"]["dropout/1"] = state["generators"]["dropout"]
    torch.save(state, tmp_path / "two")
    assert curve(start(steps=3, resume=tmp_path / "two")) == curve(start(steps=3, resume=tmp_path / "one"))


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A training state after one update."""
    return stopped(tmp_path_factory.mktemp("good"), {}, 1)


def refusal(path):
    """The sentence in which a training state is refused."""
    with pytest.raises(Refused) as caught:
        start(resume=path)
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value.message


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (type(self.path).mkdir, (self.path,))


@pytest.mark.parametrize("save", [torch.save, lambda found, path: path.write_bytes(pickle.dumps(found))])
def test_a_state_that_would_run_code_is_refused(tmp_path, good, save):
    """Neither in torch's format nor as a bare pickle is anything run."""
    state = torch.load(good, weights_only=True)
    save(state | {"position": Trap(tmp_path / "ran")}, tmp_path / "trap.pt")
    assert "no training state" in refusal(tmp_path / "trap.pt")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"format": 2}, "format 2, and this trainer reads format 1", id="newer"),
        pytest.param({"adapter": {}}, "another adapter", id="no-adapter"),
        pytest.param({"generators": {"dropout": None}}, "damaged", id="no-generator"),
        pytest.param({"generators": {"dropout": torch.zeros(3, dtype=torch.uint8)}}, "another kind", id="short"),
        pytest.param({"position": {"step": -1, "steps": 5, "rowsTaken": 8}}, "damaged", id="before-the-start"),
        pytest.param(
            {"position": {"step": 1, "steps": 5, "rowsTaken": 9}}, "in the middle of an update", id="half-an-update"
        ),
        pytest.param({"position": {"step": 2, "steps": 5, "rowsTaken": 8}}, "another run", id="more-steps-than-rows"),
        pytest.param({"position": {"step": 6, "steps": 5, "rowsTaken": 48}}, "another run", id="beyond-the-end"),
        pytest.param({"position": {"step": 1, "steps": 6, "rowsTaken": 8}}, "another run", id="another-horizon"),
        pytest.param({"optimizer": {"state": {0: {}}, "param_groups": [{"lr": 0.0}]}}, "damaged", id="one-moment"),
        pytest.param({"optimizer": {"state": {}, "param_groups": []}}, "damaged", id="no-rate"),
    ],
)
def test_a_state_that_is_none_is_refused(tmp_path, good, change, sentence):
    """One sentence that names the file and says what is wrong with it."""
    torch.save(torch.load(good, weights_only=True) | change, tmp_path / "changed.pt")
    assert sentence in refusal(tmp_path / "changed.pt")


def test_moments_of_another_shape_are_refused(tmp_path, good):
    """What would be read beyond its end is not restored."""
    state = torch.load(good, weights_only=True)
    state["optimizer"]["state"][3]["exp_avg"] = torch.zeros(2, 2)
    torch.save(state, tmp_path / "changed.pt")
    assert "damaged" in refusal(tmp_path / "changed.pt")


def test_the_state_of_another_rank_is_refused(good):
    """A state fits the adapter that it was saved from."""
    with pytest.raises(Refused, match="another adapter"):
        start({f"{LORA}.rank": 4}, resume=good)


@pytest.mark.parametrize("kept", [0, 1, 100, 5_000, 100_000, -1])
def test_a_state_that_was_cut_short_is_refused(tmp_path, good, kept):
    """Wherever it ends."""
    (tmp_path / "cut.pt").write_bytes(good.read_bytes()[:kept])
    assert "no training state" in refusal(tmp_path / "cut.pt")


@pytest.mark.filterwarnings("ignore:Detected pickle protocol", "ignore:TypedStorage")
def test_a_flipped_bit_is_refused_or_changes_nothing_that_is_read(tmp_path, good, monkeypatch):
    """Twenty damaged copies: each is refused, or is, tensor by tensor, what was saved; torch checks what it reads."""
    draw, whole = random.Random(5), good.read_bytes()
    expected = repr(torch.load(good, weights_only=True))
    for _ in range(20):
        damaged = bytearray(whole)
        at = draw.randrange(draw.choice([12_000, len(whole)]))
        damaged[at] ^= 1 << draw.randrange(8)
        (tmp_path / "flipped.pt").write_bytes(damaged)
        try:
            start(resume=tmp_path / "flipped.pt")
        except Refused:
            continue
        assert repr(torch.load(tmp_path / "flipped.pt", weights_only=True)) == expected
