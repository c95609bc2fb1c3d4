"""What a session says of itself."""

from __future__ import annotations

import json
import random
from contextlib import closing

import numpy as np
import pytest
import torch
from support import decoding
from support.decoding import LORA, OPTIMIZER, advance

from akka_optimize.trainer import seeds
from akka_optimize.trainer.engines import engine

CHATS = decoding.rows(24, longest=2)


def start(settings=None, **kwargs):
    """A session of the built-in engine, on short rows."""
    return engine("decoder").start(decoding.job(settings, chats=CHATS, **kwargs))


@pytest.fixture(scope="module")
def two():
    """A session in two processes, after an update."""
    with closing(start(devices=2, passes=2)) as session:
        advance(session, 1)
        yield session


def test_the_environment_says_what_the_bits_depend_on():
    """Torch's build and libraries, the instructions that it uses, the device, how many threads and processes."""
    found = start().environment
    assert found["packages"] == {"torch": torch.__version__, "numpy": np.__version__}
    assert (found["device"], found["threads"], found["processes"]) == ("cpu", 1, 1)
    assert found["deterministic"] is True
    assert found["instructions"] == torch.backends.cpu.get_cpu_capability()
    assert set(found["libraries"]) == {"blas", "mkl", "mkldnn", "openmp"}
    assert torch.get_num_threads() == 1


def test_two_environments_of_one_machine_are_equal():
    """Nothing in it differs between two runs of one plan."""
    assert start().environment == start({"config.seed": 7}).environment


def test_what_is_requested_is_what_is_resolved():
    """Under the same names; on a CPU all is as asked, but for the device, of which there is none to count."""
    session = start({f"{OPTIMIZER}.beta1": 0.8, f"{OPTIMIZER}.weightDecay": 0.1, f"{LORA}.dropout": 0.25})
    asked, made = session.requested["config"], session.resolved["config"]
    assert list(asked) == list(made)
    assert {name for name in asked if asked[name] != made[name]} == {"gpus", "device"}
    assert (made["adam_beta1"], made["weight_decay"], made["lora_dropout"]) == (0.8, 0.1, 0.25)
    assert (made["gpus"], made["device"]) == (0, "cpu")
    assert json.loads(json.dumps(session.resolved)) == session.resolved


def test_what_is_resolved_is_read_back(monkeypatch):
    """An optimizer that was built otherwise than asked shows as a difference, and as changed by setup."""
    session = start()
    original = torch.optim.AdamW
    monkeypatch.setattr(torch.optim, "AdamW", lambda *args, **kw: original(*args, **(kw | {"eps": 1e-3})))
    other = start()
    assert session.resolved["config"]["adam_epsilon"] == other.requested["config"]["adam_epsilon"] == 1e-8
    assert other.resolved["config"]["adam_epsilon"] == other.resolved["optimizer"]["eps"] == 1e-3
    assert other.runtime()["trainer"]["changedBySetup"] == ["gpus", "adam_epsilon"]


def test_the_adapter_is_told_as_attached():
    """Shapes of every layer that has one, its scale, and how many numbers are trained."""
    session = start({f"{LORA}.rank": 4, f"{LORA}.alpha": 10.0})
    adapter = session.resolved["adapter"]
    assert adapter["scale"] == 2.5
    assert adapter["layers"]["blocks.3.feed_forward.down"] == {"A": [4, 576], "B": [128, 4]}
    sizes = [a * b for layer in adapter["layers"].values() for a, b in layer.values()]
    assert adapter["trainable"] == sum(sizes) == 4 * (512 + 256 + 704 + 704) * 4


def test_several_processes_are_told(two):
    """Which rank is on which device, what joins them, and that a CPU is no accelerator."""
    assert (two.requested["config"]["gpus"], two.resolved["config"]["gpus"]) == (2, 0)
    assert (two.resolved["config"]["processes"], two.resolved["config"]["backend"]) == (2, "gloo")
    assert (two.environment["processes"], two.environment["device"]) == (2, "cpu")
    told = two.runtime()
    assert told["processes"] == [{"rank": rank, "device": "cpu", "threads": 1} for rank in (0, 1)]
    assert told["backend"] == "gloo"


def test_memory_is_told_as_it_appears():
    """Bytes in use after loading, and after the first update once there was one; model and trained by type."""
    session = start({"config.model.precision": "BF16"})
    assert list(session.runtime()["memory"]) == ["afterLoad"]
    advance(session, 1)
    told = session.runtime()
    assert list(told["memory"]) == ["afterLoad", "afterFirstStep"]
    assert all(10**7 < used < 10**11 for used in told["memory"].values())
    assert told["model"]["parameters"] == {"bfloat16": 886_912, "float32": 69_632}
    assert told["model"]["trainable"] == 69_632
    assert len(told["model"]["wrapped"]) == 16


def test_every_generator_starts_from_the_seed_on_record():
    """Torch's, numpy's and Python's own, and dropout's: each as `run.json` says of the first process."""
    session = start({"config.seed": 11})
    (told,) = seeds.document(11, 1)["processes"]
    drawn = (torch.rand(3).tolist(), np.random.rand(3).tolist(), [random.random() for _ in range(3)])
    fresh = torch.rand(3, generator=torch.Generator().manual_seed(told["torch"])).tolist()
    assert drawn == (fresh, np.random.RandomState(told["numpy"]).rand(3).tolist(), _python(told["python"]))
    assert torch.equal(session.draws.get_state(), torch.Generator().manual_seed(told["dropout"]).get_state())


def test_nothing_draws_from_the_generators_that_no_training_state_keeps():
    """Updates, validation and saves leave torch's, numpy's and Python's own generators as they were."""
    session = start({f"{LORA}.dropout": 0.2})
    before = (torch.get_rng_state().tolist(), repr(np.random.get_state()), random.getstate())
    advance(session, 2)
    session.validate()
    session.hold()
    assert (torch.get_rng_state().tolist(), repr(np.random.get_state()), random.getstate()) == before


def test_every_process_begins_with_the_same_adapter_and_draws_its_own():
    """Of what a run's record says of its processes, only the adapter's start is shared."""
    first, second = seeds.document(3, 2)["processes"]
    assert first["adapter"] == second["adapter"]
    assert all(first[name] != second[name] for name in ("torch", "numpy", "python", "dropout"))


def _python(seed):
    draw = random.Random(seed)
    return [draw.random() for _ in range(3)]
