"""Grids out of files: what is read, and each way to be refused before any trainer is asked."""

from __future__ import annotations

import io
import sys

import pytest
from support.fans import GRID

from akka_optimize.actions.training.runs.grid import axes
from akka_optimize.errors import AkkaError, Exhausted, Invalid, WrongUsage
from akka_optimize.records import Axis

RATE, RANK = "hyperparams.optimizer.learningRate", "hyperparams.lora.rank"
AXES = (Axis(RATE, (1e-5, 5e-5, 2e-4)), Axis(RANK, (8, 16)))


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """Reads the bytes of a grid, and gives the kind of error and its message."""

    def reading(data: bytes | str, restore: str = "weights") -> tuple[type, str]:
        (tmp_path / "g.yaml").write_bytes(data if isinstance(data, bytes) else data.encode())
        with pytest.raises(AkkaError) as caught:
            axes("g.yaml", restore=restore)
        return type(caught.value), str(caught.value)

    monkeypatch.chdir(tmp_path)
    return reading


def test_yaml_and_json_are_one_grid(tmp_path):
    """The types are those of the document: `1.0e-5` is a float, `8` an integer."""
    (tmp_path / "g.yaml").write_text(GRID)
    (tmp_path / "g.json").write_text(
        f'{{"axes": [{{"path": "{RATE}", "values": [1.0e-5, 5.0e-5, 2.0e-4]}},\n'
        f'          {{"path": "{RANK}", "values": [8, 16]}}]}}'
    )
    for name in ("g.yaml", "g.json"):
        assert repr(axes(str(tmp_path / name), restore="weights")) == repr(AXES)


def test_standard_input_is_read(monkeypatch):
    """By its first character as YAML or JSON; a fault names it."""
    for text, outcome in [(GRID, AXES), ("axes: []\n", None)]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        if outcome:
            assert axes("-", restore="weights") == outcome
        else:
            with pytest.raises(Invalid, match=r"^standard input:1:1: the grid has no axis"):
                axes("-", restore="weights")


SHAPE = "a list of axes, each with a path and its values"
EXPLODES = "axes:\n" + "".join(
    f"- &a{level} [{', '.join([f'*a{level - 1}' if level else '8'] * 20)}]\n" for level in range(6)
)
REFUSED = [
    pytest.param("", Invalid, "g.yaml: the grid is empty", id="empty"),
    pytest.param("\n", Invalid, "g.yaml:1:1: the document is empty", id="blank"),
    pytest.param(b"axes: \xff\n", Invalid, "g.yaml:1:7: the byte 0xff is not UTF-8", id="not-utf-8"),
    pytest.param("axes:\n\t- 8\n", Invalid, "g.yaml:2:1: a tab where YAML wants spaces", id="broken"),
    pytest.param(EXPLODES, Invalid, "g.yaml:5:58: the document holds more than 100000 values", id="explodes"),
    pytest.param("axes: []\naxes: []\n", Invalid, 'g.yaml:2:1: the key "axes" appears twice; it was first on line 1',
                 id="a-key-twice"),
    pytest.param("# none\n", Invalid, f"g.yaml:1:1: null is no grid; write a mapping with axes, {SHAPE}", id="comment"),
    pytest.param("- 8\n", Invalid, f"g.yaml:1:1: [8] is no grid; write a mapping with axes, {SHAPE}", id="a-list"),
    pytest.param("axis: []\n", Invalid,
                 'g.yaml:1:1: unknown key "axis"; a grid has axes, and nothing else\n'
                 f"g.yaml:1:1: the grid has no axes; write {SHAPE}", id="unknown-key"),
    pytest.param("axes: []\n", Invalid, f"g.yaml:1:1: the grid has no axis; write {SHAPE}", id="no-axis"),
    pytest.param(f"axes:\n- path: {RANK}\n  values: []\n", Invalid,
                 f"g.yaml:3:3: the axis {RANK} has no value; write at least one", id="no-value"),
    pytest.param(f"axes:\n- path: {RANK}\n  values: 8\n", Invalid,
                 "g.yaml:3:3: 8 is no list of values; write [8]", id="values-no-list"),
    pytest.param(f"axes:\n- path: {RANK}\n  value: [8]\n", Invalid,
                 'g.yaml:3:3: unknown key "value"; an axis has path and values\n'
                 "g.yaml:2:3: the axis has no values; it needs path and values", id="key-misspelled"),
    pytest.param(f"axes:\n- path: {RANK}\n  values: [8]\n- path: {RANK}\n  values: [16]\n", Invalid,
                 f"g.yaml:4:3: {RANK}: set by two axes; the other is axes[0] on line 2", id="one-path-twice"),
    pytest.param(f"axes:\n- path: hyperparams.optimizer\n  values: [1]\n- path: {RATE}\n  values: [1]\n", Invalid,
                 f"g.yaml:2:3: hyperparams.optimizer: holds {RATE}, which axes[1] on line 4 sets\n"
                 f"g.yaml:4:3: {RATE}: lies within hyperparams.optimizer, which axes[0] on line 2 sets", id="nested"),
    pytest.param(f"axes:\n- path: {RANK}\n  values:\n  - 8\n  - 8.0\n", Invalid,
                 f"g.yaml:5:5: {RANK}: 8.0 is 8 again, values[0] on line 4", id="repeated-value"),
    pytest.param("axes:\n- path: hyperparams.lora.rnk\n  values: [8]\n", Invalid,
                 f"g.yaml:2:3: hyperparams.lora.rnk: no field of config; the nearest is {RANK}", id="no-field"),
    pytest.param("axes:\n- path: execution.gpus\n  values: [1]\n", Invalid,
                 "g.yaml:2:3: execution.gpus: how a run is carried out is inherited from the parent; "
                 "name a field of config", id="execution"),
    pytest.param("axes:\n- path: hyperparams.training.epochs\n  values: [1]\n", Invalid,
                 "g.yaml:2:3: hyperparams.training.epochs: the horizon of every child is --steps; leave it out",
                 id="horizon"),
    pytest.param(f"axes:\n- path: config.{RANK}\n  values: [8]\n", Invalid,
                 f"g.yaml:2:3: config.{RANK}: paths begin below config; write {RANK}", id="below-config"),
    pytest.param(f"axes:\n- path: seed\n  values: {list(range(51))}\n", Exhausted,
                 "g.yaml: 51 values make 51 points; at most 50 can branch from one snapshot", id="fifty-one"),
    pytest.param("axes:\n" + "".join(f"- path: {path}\n  values: {list(range(1, 1001))}\n"
                                     for path in ("seed", RATE, "hyperparams.optimizer.warmupSteps")), Exhausted,
                 "g.yaml: 1000 x 1000 x 1000 values make 1000000000 points; at most 50 can branch from one snapshot",
                 id="thousand-million"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "kind", "message"), REFUSED)
def test_refuses(refusal, data, kind, message):
    """The file, line and column of every fault, what is wrong, and with what it collides."""
    found_kind, found = refusal(data)
    lines = [line for line in found.split("\n") if not line.endswith("faults in the grid:")]
    assert (found_kind, lines) == (kind, message.split("\n"))


def test_a_training_state_takes_the_learning_rate_alone(refusal):
    """Another axis is refused with its place, before any trainer is asked."""
    assert refusal(GRID, restore="trainingState") == (
        Invalid,
        f"g.yaml:4:5: {RANK}: not under --restore trainingState, which takes {RATE} alone",
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("missing.yaml", "missing.yaml: no such file", id="missing"),
        pytest.param(".", ".: a directory, where the file of the grid belongs", id="directory"),
        pytest.param("", ": no such file", id="no-name"),
    ],
)
def test_a_file_that_is_none(tmp_path, monkeypatch, path, message):
    """It is wrong usage, and the name is told."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongUsage) as caught:
        axes(path, restore="weights")
    assert str(caught.value) == message


def test_values_are_left_to_the_trainer(tmp_path):
    """What a field does not take is judged with all other points, and not here."""
    (tmp_path / "g.yaml").write_text(f"axes:\n- path: {RANK}\n  values: [0, '8', true, null, 8.5]\n")
    (found,) = axes(str(tmp_path / "g.yaml"), restore="weights")
    assert found.values == (0, "8", True, None, 8.5)
