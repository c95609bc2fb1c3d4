"""What a training state would call is named, and nothing of it is carried out."""

from __future__ import annotations

import collections
import io
import json
import os
import pickle
import random
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recorded import STATE, archive

from akka_optimize.record import pickles


class Calls:
    """Something that calls a function when it is loaded."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        """For the pickle."""
        return self.call


def called(content):
    """What loading these bytes would call."""
    return pickles.called(io.BytesIO(content))


def packed(content, name="archive/data.pkl"):
    """An archive around a pickle."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr(name, content)
    return stream.getvalue()


def test_what_torch_writes_calls_nothing_else(tmp_path):
    """Tensors of every kind, parameters, an optimizer's state, generators and plain values."""
    import torch

    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state = {
        "model": model.state_dict(),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "optimizer": optimizer.state_dict(),
        "generator": torch.get_rng_state(),
        "python": random.getstate(),
        "kinds": [torch.zeros(2, dtype=kind) for kind in (torch.bfloat16, torch.half, torch.int64, torch.bool)],
        "plain": {"a": [1, 2.5, None, True, "text"]},
    }
    torch.save(state, tmp_path / "state.pt")
    assert called((tmp_path / "state.pt").read_bytes()) == ()
    torch.load(tmp_path / "state.pt", weights_only=True)


@pytest.mark.parametrize("protocol", range(6))
def test_a_function_is_named_in_every_protocol(protocol):
    """By the name under which it would be looked up."""
    state = {"a": Calls(os.system, "true"), "b": [Calls(os.remove, "/")], "c": Calls(os.system, "no")}
    assert called(packed(pickle.dumps(state, protocol))) == ("posix.system", "posix.remove")


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_is_in_no_archive_is_looked_through(protocol):
    """Torch reads those as well; one that calls nothing is no training state all the same."""
    assert called(pickle.dumps(Calls(os.system, "true"), protocol)) == ("posix.system",)
    with pytest.raises(ValueError, match="not an archive"):
        called(pickle.dumps(STATE, protocol))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"cos\nsystem\n.", "os.system"),
        (b"(S'true'\nios\nsystem\n.", "os.system"),
        (b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93.", "os.system"),
        (b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x85h\x00h\x01\x93.", "os.system"),
        (b"\x80\x04\x8c\x02os\x94h\x05\x93.", "a name that is made up while it is loaded"),
        (b"\x80\x04)\x94h\x00\x8c\x06system\x93.", "a name that is made up while it is loaded"),
        (b"\x80\x04\x8c\x02os\x8c\x06system0\x8c\x06system\x93.", "a name that is made up while it is loaded"),
        (b"\x80\x02\x82\x01.", "extension 1"),
        (b"cbuiltins\neval\n.", "builtins.eval"),
        (b"ctorch._utils\n_rebuild_tensor\n.", "torch._utils._rebuild_tensor"),
        (b"cos\nsystem\n\xff", "os.system"),
    ],
)
def test_every_way_to_a_function_is_seen(content, told):
    """Each opcode that looks a name up, also where the name is put together, and before damage."""
    assert called(packed(content)) == (told,)


def test_an_ordered_dict_is_harmless():
    """A model's state is one."""
    assert called(archive(collections.OrderedDict(a=1))) == ()


def test_a_state_as_json_calls_nothing():
    """An engine may write its state so."""
    assert called(json.dumps(STATE).encode()) == ()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04", "not an archive"),
        (archive(STATE)[:-30], "not an archive"),
        (packed(b"\xff"), "holds a pickle that is damaged"),
        (packed(pickle.dumps(STATE)[:-1]), "holds a pickle that is damaged"),
        (packed(b"", name="archive/other"), "does not hold one data.pkl"),
        (packed(pickle.dumps(STATE), name="archive/constants.pkl"), "does not hold one data.pkl"),
    ],
)
def test_what_is_no_training_state_is_refused(content, told):
    """With the reason, and without anything else being raised."""
    with pytest.raises(ValueError, match=told):
        called(content)


def test_a_second_pickle_is_refused():
    """Which of the two would be loaded is not guessed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(STATE))
        file.writestr("other/data.pkl", pickle.dumps(Calls(os.system, "true")))
    with pytest.raises(ValueError, match="does not hold one"):
        called(stream.getvalue())


def test_a_pickle_that_is_too_large_is_not_unpacked(monkeypatch):
    """An archive may promise anything."""
    monkeypatch.setattr(pickles, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="more than"):
        called(archive(STATE))


@given(st.data())
def test_no_damage_raises_anything_else(data):
    """Any byte of an archive may be any other."""
    content = bytearray(archive(STATE))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError):
        called(bytes(content))
