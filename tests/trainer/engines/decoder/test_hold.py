"""A session held in memory: what is written later is what was there, and going on costs and changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from support import decoding
from support.decoding import LORA, advance, curve

from akka_optimize.trainer.engines import engine
from akka_optimize.trainer.engines.decoder.state import Copies

CHATS = decoding.rows(24, longest=2)
DROPOUT = {f"{LORA}.dropout": 0.2}


def start(settings=None, **kwargs):
    """A session of the built-in engine, on short rows."""
    return engine("decoder").start(decoding.job(settings, **({"chats": CHATS} | kwargs)))


def written(held, folder):
    """The bytes of both files."""
    folder.mkdir(exist_ok=True)
    held.save_weights(folder / "weights.safetensors")
    held.save_training_state(folder / "training-state.pt")
    return [(folder / name).read_bytes() for name in ("weights.safetensors", "training-state.pt")]


def test_what_is_held_is_what_a_save_then_would_have_written(tmp_path):
    """Written after three more updates, both files are those written at once, whatever they are called."""
    session = start(DROPOUT)
    advance(session, 2)
    held = session.hold()
    at_once = written(held, tmp_path)
    advance(session, 3)
    later = session.hold()
    assert written(held, tmp_path / "later") == at_once
    assert written(later, tmp_path) != at_once
    held.save_training_state(tmp_path / "another-name.pt")
    assert (tmp_path / "another-name.pt").read_bytes() == at_once[1]


def test_holding_changes_no_update():
    """A run that is held after every update has the curve of one that never is, dropout included."""
    held = start(DROPOUT)
    found = []
    for step in held.steps():
        held.hold()
        found.append(replace(step, seconds=0.0))
    assert found == curve(start(DROPOUT))


def test_memory_is_used_again_once_nobody_has_it():
    """Two held at a time share nothing; after one is let go, the next takes its memory."""
    weight = torch.zeros(3, requires_grad=True)
    copies = Copies({"a": weight}, torch.optim.AdamW([weight]))

    def hold():
        return copies.hold(generators={}, position={}, about={})

    first, second = hold(), hold()
    places = [held._state["adapter"]["a"].data_ptr() for held in (first, second)]
    assert len(set(places)) == 2
    del second
    assert hold()._state["adapter"]["a"].data_ptr() == places[1]
    session = start()
    assert len({session.hold()._state["adapter"]["blocks.0.attention.qkv.A"].data_ptr() for _ in range(3)}) == 1


def test_weights_are_the_adapter_and_what_it_belongs_on(tmp_path):
    """The safetensors file has the adapter's tensors, and in its metadata base model, rank and alpha."""
    session = start({f"{LORA}.rank": 4}, steps=1)
    curve(session)
    session.hold().save_weights(tmp_path / "weights.safetensors")
    saved = load_file(tmp_path / "weights.safetensors")
    assert saved.keys() == session.adapter.keys()
    assert all(torch.equal(saved[name], session.adapter[name]) for name in saved)
    with safe_open(tmp_path / "weights.safetensors", framework="pt") as file:
        about = json.loads(file.metadata()["akka-optimize"])
    assert (about["baseModel"], about["rank"], about["alpha"], about["step"]) == (decoding.MODEL, 4, 16.0, 1)


@pytest.mark.parametrize("updates", [0, 2])
def test_a_training_state_holds_plain_values(tmp_path, updates):
    """It loads with `weights_only=True`, and says how far schedule and stream have come."""
    session = start(steps=2)
    advance(session, updates)
    session.hold().save_training_state(tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    assert state["position"] == {"step": updates, "steps": 2, "rowsTaken": 8 * updates}
    assert set(state) == {"format", "adapter", "optimizer", "generators", "position"}
    assert set(state["generators"]) == {"dropout"}
    assert len(state["optimizer"]["state"]) == (len(session.adapter) if updates else 0)
