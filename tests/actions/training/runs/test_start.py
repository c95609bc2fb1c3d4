"""A descriptor from a file, with assignments on top."""

from __future__ import annotations

import pytest

from akka_optimize.actions.training.runs.start import assign, descriptor, full_path
from akka_optimize.errors import Invalid, WrongUsage

ASSIGNMENTS = [
    pytest.param("config.seed=3", {"config": {"seed": 3}}, id="an-integer-stays-one"),
    pytest.param("config.seed=3.0", {"config": {"seed": 3.0}}, id="a-float-stays-one"),
    pytest.param("config.hyperparams.optimizer.learningRate=1e-5",
                 {"config": {"hyperparams": {"optimizer": {"learningRate": 1e-5}}}}, id="an-exponent-is-a-number"),
    pytest.param("hyperparams.lora.rank=16", {"config": {"hyperparams": {"lora": {"rank": 16}}}},
                 id="a-path-below-config"),
    pytest.param("name=second", {"name": "second"}, id="a-field-of-the-root"),
    pytest.param("purpose=a = b", {"purpose": "a = b"}, id="the-first-equals-sign-divides"),
    pytest.param("name=no", {"name": "no"}, id="no-is-a-word"),
    pytest.param("no.such=1", {"no": {"such": 1}}, id="an-unknown-path-is-for-the-service-to-refuse"),
]  # fmt: skip


@pytest.mark.parametrize(("assignment", "expected"), ASSIGNMENTS)
def test_an_assignment_sets_one_field_in_its_own_type(assignment, expected):
    """`--set` reads its value as a YAML document would, and makes the groups on the way."""
    document: dict = {}
    assign(document, assignment)
    assert document == expected
    assert repr(document) == repr(expected)


@pytest.mark.parametrize("assignment", ["", "x", "=3", "kind.x=3"])
def test_an_assignment_that_sets_nothing_is_wrong_usage(assignment):
    """No equals sign, no path, or a path through a value: refused with what to write."""
    with pytest.raises(WrongUsage, match="--set"):
        assign({"kind": "run"}, assignment)


def test_later_assignments_win_over_earlier_ones_and_the_file(tmp_path):
    """The file is read first, then every assignment in the order given."""
    file = tmp_path / "run.yaml"
    file.write_text("kind: run\nconfig: {seed: 1, dataset: d}\n")
    assert descriptor(str(file), ["config.seed=2", "seed=3"]) == {"kind": "run", "config": {"seed": 3, "dataset": "d"}}


def test_a_descriptor_is_a_mapping(tmp_path):
    """A list or a bare value is no descriptor."""
    file = tmp_path / "run.yaml"
    file.write_text("- kind: run\n")
    with pytest.raises(Invalid, match="is a mapping"):
        descriptor(str(file))


def test_only_known_paths_are_completed():
    """`config.` is put in front of a path whose first word stands below it, also where a later one is mistyped."""
    paths = ("seed", "config.seed", "execution.gpus", "x.y", "hyperparams.lora.rnak")
    assert [full_path(p) for p in paths] == [
        "config.seed", "config.seed", "execution.gpus", "x.y", "config.hyperparams.lora.rnak",
    ]  # fmt: skip


def test_a_value_that_cannot_be_read_is_told_by_its_path():
    """The error begins with the option and the path, as that of a file begins with its name."""
    with pytest.raises(Invalid, match=r"^--set seed:1:1: \.nan is not a finite number"):
        assign({}, "seed=.nan")
