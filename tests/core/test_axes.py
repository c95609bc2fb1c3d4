"""Axes out of a document, and every way in which it holds none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws
from support.grids import axes as good_axes

from akka_optimize.core import axes
from akka_optimize.core.axes import Where, dotted
from akka_optimize.errors import Invalid
from akka_optimize.records import Axis

RATE, RANK = "hyperparams.optimizer.learningRate", "hyperparams.lora.rank"
SHAPE = "a list of axes, each with a path and its values"


def refusal(document, where=axes.NOWHERE, **options):
    """The message that refuses a document, and the field that it names."""
    with pytest.raises(Invalid) as caught:
        axes.read(document, where, **options)
    return str(caught.value), caught.value.field


def listed(*found):
    """A grid's document with these axes, each a path and its values."""
    return {"axes": [{"path": path, "values": list(values)} for path, values in found]}


@laws
@given(good_axes())
def test_a_good_grid_is_read_as_it_stands(found):
    """Axes and values in their order, each value with the type that it was written with."""
    document = listed(*((axis.path, axis.values) for axis in found))
    assert repr(axes.read(document)) == repr(tuple(found))


REFUSED = [
    pytest.param(8, None, f"8 is no grid; write a mapping with axes, {SHAPE}", id="a-number"),
    pytest.param(None, None, f"null is no grid; write a mapping with axes, {SHAPE}", id="null"),
    pytest.param([{"path": RANK}], None, f"[{{\"path\": \"{RANK}\"}}] is no grid; write a mapping with axes, {SHAPE}",
                 id="a-list"),
    pytest.param({}, None, f"the grid has no axes; write {SHAPE}", id="empty-mapping"),
    pytest.param({"axes": None}, "axes", f"axes: null is no list; write {SHAPE}", id="axes-null"),
    pytest.param({"axes": {}}, "axes", f"axes: {{}} is no list; write {SHAPE}", id="axes-a-mapping"),
    pytest.param({"axes": []}, "axes", f"axes: the grid has no axis; write {SHAPE}", id="no-axis"),
    pytest.param(listed((RANK, [8])) | {"seed": 1}, "seed",
                 'seed: unknown key "seed"; a grid has axes, and nothing else', id="unknown-key"),
    pytest.param({"axes": [RANK]}, "axes[0]",
                 f'axes[0]: "{RANK}" is no axis; write a mapping with a path and its values', id="axis-is-text"),
    pytest.param({"axes": [{"path": RANK, "values": [8], "label": "x"}]}, "axes[0].label",
                 'axes[0].label: unknown key "label"; an axis has path and values', id="unknown-key-of-an-axis"),
    pytest.param({"axes": [{"values": [8]}]}, "axes[0]",
                 "axes[0]: the axis has no path; it needs path and values", id="no-path"),
    pytest.param({"axes": [{"path": RANK}]}, "axes[0]",
                 "axes[0]: the axis has no values; it needs path and values", id="no-values-key"),
    pytest.param({"axes": [{"path": ["seed"], "values": [8]}]}, "axes[0].path",
                 f'axes[0].path: ["seed"] is no path; name a field of config, such as {RANK}', id="path-is-a-list"),
    pytest.param({"axes": [{"path": RANK, "values": 8}]}, "axes[0].values",
                 "axes[0].values: 8 is no list of values; write [8]", id="values-a-number"),
    pytest.param(listed((RANK, [])), "axes[0].values",
                 f"axes[0].values: the axis {RANK} has no value; write at least one", id="empty-values"),
    pytest.param(listed((RANK, [8]), ("seed", [1]), (RANK, [16])), "axes[2].path",
                 f"axes[2].path: {RANK}: set by two axes; the other is axes[0]", id="one-path-twice"),
    pytest.param(listed((RANK, [8, 16, 8])), "axes[0].values[2]",
                 f"axes[0].values[2]: {RANK}: 8 is 8 again, values[0]", id="one-value-twice"),
    pytest.param(listed((RANK, [8, 8.0])), "axes[0].values[1]",
                 f"axes[0].values[1]: {RANK}: 8.0 is 8 again, values[0]", id="one-number-written-twice"),
    pytest.param(listed((RATE, [2**53, 2**53 + 1])), "axes[0].values[1]",
                 f"axes[0].values[1]: {RATE}: {2**53 + 1} is {2**53} again, values[0]", id="one-number-as-a-float"),
    pytest.param(listed((RANK, [[8], [8]])), "axes[0].values[1]",
                 f"axes[0].values[1]: {RANK}: [8] is [8] again, values[0]", id="one-list-twice"),
    pytest.param(listed(("hyperparams.lora.rnk", [8])), "axes[0].path",
                 f"axes[0].path: hyperparams.lora.rnk: no field of config; the nearest is {RANK}", id="no-field"),
    pytest.param(listed(("a b", [8])), "axes[0].path", 'axes[0].path: "a b": no field of config', id="no-path-at-all"),
    pytest.param(listed(("execution.gpus", [1])), "axes[0].path",
                 "axes[0].path: execution.gpus: how a run is carried out is inherited from the parent; "
                 "name a field of config", id="execution"),
    pytest.param(listed(("hyperparams.training.maxSteps", [1])), "axes[0].path",
                 "axes[0].path: hyperparams.training.maxSteps: the horizon of every child is --steps; leave it out",
                 id="horizon"),
    pytest.param(listed((f"config.{RANK}", [8])), "axes[0].path",
                 f"axes[0].path: config.{RANK}: paths begin below config; write {RANK}", id="below-config"),
    pytest.param(listed(("hyperparams.optimizer", [1])), "axes[0].path",
                 "axes[0].path: hyperparams.optimizer: a group of fields, and no field; "
                 f"name one of them, such as {RATE}",
                 id="a-group"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "field", "message"), REFUSED)
def test_refuses(document, field, message):
    """Where, what, and what to write instead; with the other culprit where there is one."""
    assert refusal(document) == (message, field)


@pytest.mark.parametrize("outer_first", [True, False], ids=["group-first", "field-first"])
def test_axes_within_each_other_are_told_of_both(outer_first):
    """Each names the other, in whichever order they stand."""
    outer, inner = ("hyperparams.optimizer", [{"learningRate": 1.0}]), (RATE, [1e-5])
    message, _ = refusal(listed(*((outer, inner) if outer_first else (inner, outer))))
    at = {"outer": 0, "inner": 1} if outer_first else {"outer": 1, "inner": 0}
    told = {
        f"axes[{at['outer']}].path: hyperparams.optimizer: holds {RATE}, which axes[{at['inner']}] sets",
        f"axes[{at['inner']}].path: {RATE}: lies within hyperparams.optimizer, which axes[{at['outer']}] sets",
    }
    assert set(message.split("\n")[1:]) == told


def test_neighbours_with_a_common_beginning_do_not_overlap():
    """`learningRate` lies not within `learning`, which is merely no field."""
    message, _ = refusal(listed(("hyperparams.optimizer.learning", [1]), (RATE, [0.9])))
    assert message == f"axes[0].path: hyperparams.optimizer.learning: no field of config; the nearest is {RATE}"


def test_one_and_true_are_two_values():
    """So are text and number; what the field takes is judged point by point, with the others."""
    axes.read(listed((RANK, [1, True, "1", "true", None])))


def test_every_fault_is_told():
    """Under a count, a line each, the first one's place as the field; beyond twenty they are counted."""
    message, field = refusal(listed(("zzz", [1, 1]), ("seed", [2, 2])))
    assert message.split("\n") == [
        "3 faults in the grid:",
        "axes[0].path: zzz: no field of config",
        "axes[0].values[1]: zzz: 1 is 1 again, values[0]",
        "axes[1].values[1]: seed: 2 is 2 again, values[0]",
    ]
    assert field == "axes[0].path"
    many, _ = refusal(listed(("seed", [1] * 100)))
    assert many.split("\n")[0] == "99 faults in the grid:"
    assert many.split("\n")[-1] == "and 79 more"
    assert len(many.split("\n")) == 22


def test_a_training_state_refuses_other_axes():
    """Every axis but the learning rate's, before any point is made."""
    message, _ = refusal(listed((RATE, [1e-5]), (RANK, [8])), restore="trainingState")
    assert message == f"axes[1].path: {RANK}: not under --restore trainingState, which takes {RATE} alone"


PLACED = Where("g.yaml", {("axes", 0, "path"): (2, 5), ("axes", 1, "path"): (4, 5), ("axes", 1, "values", 0): (5, 14),
                          ("axes", 1, "values", 1): (6, 7)})  # fmt: skip


def test_places_are_told_where_they_are_known():
    """Line and column of the fault, and the line of the other culprit."""
    assert refusal(listed((RANK, [8]), (RANK, [16])), PLACED)[0] == (
        f"g.yaml:4:5: {RANK}: set by two axes; the other is axes[0] on line 2"
    )
    assert refusal(listed((RANK, [8]), ("seed", [1, 1.0])), PLACED)[0] == (
        "g.yaml:6:7: seed: 1.0 is 1 again, values[0] on line 5"
    )


def test_a_source_without_places_is_named():
    """The file at least."""
    assert refusal({"axes": []}, Where("g.yaml"))[0] == f"g.yaml: axes: the grid has no axis; write {SHAPE}"


def test_check_takes_axes_that_no_document_lists():
    """The same faults, for a caller with axes of its own."""
    with pytest.raises(Invalid, match=r"axes\[1\].path: seed: set by two axes; the other is axes\[0\]"):
        axes.check([Axis("seed", (1,)), Axis("seed", (2,))])


@given(st.lists(st.from_regex("[a-z]{1,5}", fullmatch=True) | st.integers(0, 99), max_size=5))
def test_dotted_writes_the_way_to_a_place(keys):
    """Words are joined by dots, numbers stand in brackets."""
    text = dotted(tuple(keys))
    rebuilt = [
        int(part) if part.isdigit() else part for part in text.replace("[", ".").replace("]", "").split(".") if part
    ]
    assert rebuilt == keys
