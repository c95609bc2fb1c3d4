"""Points: their canonical text and id, their document, and what is wrong with one."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws
from support.grids import CHANGEABLE, axes, below_config

from akka_optimize.core import points
from akka_optimize.core.grid import points as product_of
from akka_optimize.errors import Invalid

RATE, RANK = "hyperparams.optimizer.learningRate", "hyperparams.lora.rank"
one_point = axes(most=8, most_values=1).map(lambda found: product_of(found)[0])


def test_the_canonical_text_and_the_id_are_what_the_documentation_says():
    """Anyone can recompute them: sorted JSON, and 16 digits of the sha256 of token, line end and text."""
    changes = {RATE: 1, RANK: 8}
    text = '{"hyperparams.lora.rank": 8, "hyperparams.optimizer.learningRate": 1.0}'
    assert points.canonical(changes) == text
    assert points.child_run_id("9f14c0a7", changes) == hashlib.sha256(f"9f14c0a7\n{text}".encode()).hexdigest()[:16]
    assert points.child_run_id("9f14c0a7", changes) == "714eb3c9f3ab0218"


@laws
@given(one_point, st.randoms(use_true_random=False))
def test_the_canonical_text_does_not_depend_on_the_order(changes, draw):
    """Paths are sorted, and nothing is lost: read back, the text is the point in its fields' types."""
    shuffled = dict(draw.sample(list(changes.items()), len(changes)))
    assert points.canonical(shuffled) == points.canonical(changes)
    assert repr(sorted(json.loads(points.canonical(changes)).items())) == repr(sorted(points.typed(changes).items()))


def test_numbers_take_their_fields_type():
    """A whole number for a float field is the float; an integer stays one; text and order are left alone."""
    assert repr(points.typed({RATE: 1, RANK: 8, "dataset": "1"})) == repr({RATE: 1.0, RANK: 8, "dataset": "1"})


ZERO = [field.path.removeprefix("config.") for field in CHANGEABLE if field.kind == "float" and field.contains(0)]


@laws
@given(st.sets(st.sampled_from(ZERO), min_size=1), st.text(max_size=8))
def test_the_sign_of_zero_is_no_part_of_a_point(paths, token):
    """-0.0 and 0 are the 0.0 that they equal: one text, one id."""
    plain, negative, whole = (dict.fromkeys(paths, zero) for zero in (0.0, -0.0, 0))
    assert points.canonical(negative) == points.canonical(plain) == points.canonical(whole)
    assert points.child_run_id(token, negative) == points.child_run_id(token, plain)


def test_ids_differ_by_token_and_by_value():
    """Another token or another value is another child."""
    ids = [points.child_run_id(token, {RANK: rank}) for token in ("a", "b") for rank in (8, 16)]
    assert len(set(ids)) == 4


def test_a_path_that_is_no_field_has_no_canonical_text():
    """It is refused, and not hashed."""
    with pytest.raises(Invalid, match="rnk"):
        points.canonical({"hyperparams.lora.rnk": 8})


@laws
@given(one_point)
def test_flatten_undoes_nested(changes):
    """A point and its change document hold the same, in the same order of first appearance."""
    assert points.flatten(points.nested(changes)) == changes


@laws
@given(one_point)
def test_nested_undoes_flatten(changes):
    """And the other way round."""
    document = points.nested(changes)
    assert points.nested(points.flatten(document)) == document


ODD_DOCUMENTS = [
    pytest.param({}, {}, id="empty"),
    pytest.param({"hyperparams": {"lora": {}}}, {}, id="empty-groups-change-nothing"),
    pytest.param({"hyperparams": {"lora": {"rank": {"a": 1}}}}, {RANK: {"a": 1}}, id="a-field-is-not-gone-into"),
    pytest.param({"hyperparams": 8}, {"hyperparams": 8}, id="a-group-that-is-none"),
    pytest.param({"config": {"seed": 1}}, {"config": {"seed": 1}}, id="below-config-again"),
    pytest.param({RANK: 8}, {f'"{RANK}"': 8}, id="a-key-with-dots-is-no-path"),
]


@pytest.mark.parametrize(("document", "changes"), ODD_DOCUMENTS)
def test_documents_that_are_no_changes(document, changes):
    """They flatten to what `problems` then names; only empty groups are no fault."""
    assert points.flatten(document) == changes
    assert len(points.problems(changes)) == len(changes)


@laws
@given(one_point)
def test_a_good_point_has_no_problems(changes):
    """Every field of config but the horizon can be changed under restored weights."""
    assert points.problems(changes) == ()


@pytest.mark.parametrize("field", CHANGEABLE, ids=lambda field: field.path)
def test_a_training_state_takes_another_learning_rate_and_nothing_else(field):
    """Whatever the value, the parent's own included: the values are not looked at."""
    path = below_config(field)
    expected = None if path == RATE else f"not under --restore trainingState, which takes {RATE} alone"
    assert points.path_fault(path, restore="trainingState") == expected
    assert points.path_fault(path, restore="weights") is None


@pytest.mark.parametrize("field", CHANGEABLE, ids=lambda field: field.path)
def test_a_run_that_is_continued_takes_the_rhythm_of_validation_too(field):
    """The learning rate and how often it validates; any other field is refused with both, whatever the value."""
    path, validation = below_config(field), "hyperparams.training.validationFrequencySteps"
    expected = f"a run that is continued takes {RATE} and {validation} alone; `branch` changes more"
    found = points.path_fault(path, restore="trainingState", continues=True)
    assert found == (None if path in (RATE, validation) else expected)
    problems = points.problems({path: None}, restore="trainingState", continues=True)
    assert [problem.reason.startswith("null") for problem in problems] == [path in (RATE, validation)]


INHERITED = "how a run is carried out is inherited from the parent; name a field of config"
HORIZON = "the horizon of every child is --steps; leave it out"
PATHS = [
    ("hyperparams.lora.rnk", "no field of config; the nearest is hyperparams.lora.rank"),
    ("hyperparams.LoRA.Rank", "no field of config; the nearest is hyperparams.lora.rank"),
    ("learningRate", "no field of config; the nearest is hyperparams.optimizer.learningRate"),
    ("hyperparams.lora.rank.deeper", "no field of config"),
    ("zzz", "no field of config"),
    ("", "no field of config"),
    ("hyperparams.optimizer", "a group of fields, and no field; name one of them, such as " + RATE),
    ("hyperparams", "a group of fields, and no field; name one of them, such as " + RANK),
    ("config.hyperparams.lora.rank", "paths begin below config; write hyperparams.lora.rank"),
    ("config.hyperparams.lora.rnk", "no field of config; the nearest is hyperparams.lora.rank"),
    ("config", "paths begin below config; write them without it"),
    ("execution.gpus", INHERITED),
    ("execution", INHERITED),
    ("config.execution.gpus", INHERITED),
    ("gpus", "no field of config, and execution.gpus is inherited from the parent"),
    ("hyperparams.training.epochs", HORIZON),
    ("hyperparams.training.maxSteps", HORIZON),
    ("hyperparams.training.steps", HORIZON),
    ("config.hyperparams.training.epochs", HORIZON),
    ("steps", HORIZON),
    ("epoch", "no field of config; the horizon of every child is --steps"),
    ("workload", "no field of config, and nothing that a child can change"),
    ("baseModel", "no field of config, and nothing that a child can change"),
]


@pytest.mark.parametrize(("path", "reason"), PATHS, ids=[path or "empty" for path, _ in PATHS])
def test_a_path_that_no_child_can_change(path, reason):
    """Why, and where there is one, what to write instead."""
    assert points.path_fault(path) == reason
    assert [problem.reason for problem in points.problems({path: 1})] == [reason]


VALUES = [
    ({RANK: 8.0}, f"{RANK}: 8.0 is a float; write 8"),
    ({RANK: True}, f"{RANK}: true is a boolean; write an integer from 1 to 256"),
    ({RANK: "8"}, f'{RANK}: "8" is text; write 8 without quotes'),
    ({RANK: 0}, f"{RANK}: 0 is out of range; write an integer from 1 to 256"),
    ({RANK: [8, 16]}, f"{RANK}: [8, 16] is a list; write an integer from 1 to 256"),
    ({RANK: None}, f"{RANK}: null is no value; write an integer from 1 to 256"),
    ({RATE: 0}, f"{RATE}: 0 is out of range; write a number > 0"),
    ({RATE: "fast"}, f'{RATE}: "fast" is text; write a number > 0'),
    ({RATE: 10**400}, f"{RATE}: an integer of about 401 digits is beyond what a float holds; write a number > 0"),
    (
        {"hyperparams.optimizer.schedule": "step"},
        'hyperparams.optimizer.schedule: "step" is not offered; write constant, linear or cosine',
    ),
]


@pytest.mark.parametrize(("changes", "message"), VALUES, ids=[message.split(";")[0][-40:] for _, message in VALUES])
def test_a_value_that_its_field_does_not_take(changes, message):
    """The path, the value, and what to write instead."""
    assert [str(problem) for problem in points.problems(changes)] == [message]


def test_all_faults_of_a_point_are_told():
    """One for each path that has one, in the point's order."""
    found = points.problems({RANK: 0, "seed": 1, RATE: -1.0, "zzz": 1})
    assert [problem.path for problem in found] == [RANK, RATE, "zzz"]


def test_a_fault_of_the_path_comes_before_one_of_the_value():
    """What cannot be set at all is not judged by its value."""
    (found,) = points.problems({RANK: 0}, restore="trainingState")
    assert found.reason.startswith("not under --restore trainingState")
