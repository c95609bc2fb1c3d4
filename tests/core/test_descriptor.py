"""A descriptor's faults, each with its exact sentence; its resolution; and the commented one."""

from __future__ import annotations

import json
import math
import re
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize import documents
from akka_optimize.core.descriptor import notes, problems, resolve, template
from akka_optimize.core.fields import BY_PATH, FIELDS
from akka_optimize.errors import Invalid

MINIMAL = {"kind": "run", "workload": "triage", "baseModel": "akka/tiny", "config": {"dataset": "tickets"}}
RANK = "config.hyperparams.lora.rank"
RATE = "config.hyperparams.optimizer.learningRate"


def with_value(path, value):
    """The minimal descriptor with one more value."""
    document = deepcopy(MINIMAL)
    *parents, key = path.split(".")
    holder = document
    for parent in parents:
        holder = holder.setdefault(parent, {})
    holder[key] = value
    return document


def faults(document):
    """All faults as text."""
    return [str(problem) for problem in problems(document)]


REFUSED = [
    (RANK, 8.0, "8.0 is a float; write 8"),
    (RANK, 8.5, "8.5 is a float; write an integer from 1 to 256"),
    (RANK, 300.0, "300.0 is a float; write an integer from 1 to 256"),
    (RANK, 1e300, "1e+300 is a float; write an integer from 1 to 256"),
    (RANK, "8", '"8" is text; write 8 without quotes'),
    (RANK, "8.0", '"8.0" is text; write 8'),
    (RANK, "8e0", '"8e0" is text; write 8'),
    (RANK, "999", '"999" is text; write an integer from 1 to 256'),
    (RANK, "9" * 99, f'"{"9" * 58}… is text; write an integer from 1 to 256'),
    (RANK, "eight", '"eight" is text; write an integer from 1 to 256'),
    (RANK, "1e999", '"1e999" is text; write an integer from 1 to 256'),
    (RANK, True, "true is a boolean; write an integer from 1 to 256"),
    (RANK, None, "null is no value; write an integer from 1 to 256, or leave it out for 8"),
    (RANK, 0, "0 is out of range; write an integer from 1 to 256"),
    (RANK, -8, "-8 is out of range; write an integer from 1 to 256"),
    (RANK, 257, "257 is out of range; write an integer from 1 to 256"),
    (RANK, 10**400, "an integer of about 401 digits is out of range; write an integer from 1 to 256"),
    (RANK, 10**5000, "an integer of about 5001 digits is out of range; write an integer from 1 to 256"),
    (RANK, math.nan, "NaN is not a finite number; write an integer from 1 to 256"),
    (RANK, math.inf, "Infinity is not a finite number; write an integer from 1 to 256"),
    (RANK, [8], "[8] is a list; write an integer from 1 to 256"),
    (RANK, {"a": 1}, '{"a": 1} is a mapping; write an integer from 1 to 256'),
    (RATE, "1e-5", '"1e-5" is text; write 1e-5 without quotes'),
    (RATE, "1", '"1" is text; write 1 without quotes'),
    (RATE, "-1e-5", '"-1e-5" is text; write a number > 0'),
    (RATE, "NaN", '"NaN" is text; write a number > 0'),
    (RATE, "1e999", '"1e999" is text; write a number > 0'),
    (RATE, True, "true is a boolean; write a number > 0"),
    (RATE, None, "null is no value; write a number > 0, or leave it out for 0.0001"),
    (RATE, 0, "0 is out of range; write a number > 0"),
    (RATE, 0.0, "0.0 is out of range; write a number > 0"),
    (RATE, -0.0, "-0.0 is out of range; write a number > 0"),
    (RATE, -1e-5, "-1e-05 is out of range; write a number > 0"),
    (RATE, math.nan, "NaN is not a finite number; write a number > 0"),
    (RATE, -math.inf, "-Infinity is not a finite number; write a number > 0"),
    (RATE, 10**400, "an integer of about 401 digits is beyond what a float holds; write a number > 0"),
    ("config.hyperparams.lora.dropout", 1, "1 is out of range; write a number x with 0 <= x < 1"),
    ("config.hyperparams.training.validationShare", 0.6, "0.6 is out of range; write a number x with 0 <= x <= 0.5"),
    ("config.hyperparams.optimizer.maxGradNorm", -1, "-1 is out of range; write a number >= 0"),
    ("config.hyperparams.optimizer.warmupSteps", -1, "-1 is out of range; write an integer >= 0"),
    ("config.hyperparams.training.maxSteps", 2**53, "9007199254740992 is too large; write at most 9007199254740991"),
    ("config.maxSeqLength", 7, "7 is out of range; write an integer from 8 to the model's context"),
    ("config.seed", 2**32, "4294967296 is out of range; write an integer from 0 to 4294967295"),
    ("config.seed", "0x10", '"0x10" is text; write an integer from 0 to 4294967295'),
    ("config.method", "dpo", '"dpo" is not supported by this trainer; write sft'),
    ("config.method", 1, "1 is a number; write sft"),
    ("config.model.precision", "fp32", '"fp32" is not offered; write FP32 or BF16'),
    ("config.model.precision", None, 'null is no value; write FP32 or BF16, or leave it out for "FP32"'),
    ("config.hyperparams.optimizer.schedule", "", '"" is not offered; write constant, linear or cosine'),
    ("kind", "pipeline", '"pipeline" is not taken: a descriptor describes one run; write run'),
    ("kind", None, "null is no value; write run"),
    ("workload", None, "null is no value; write the workload that the run belongs to, by name or ID"),
    ("workload", "", '"" is empty; write some text'),
    ("workload", {}, "{} is a mapping; write the workload that the run belongs to, by name or ID"),
    ("config.dataset", 2024, '2024 is a number; write "2024" in quotes'),
    ("name", True, 'true is a boolean; write "true" in quotes'),
    ("name", 1.5, '1.5 is a number; write "1.5" in quotes'),
    ("name", [], "[] is a list; write text"),
    ("name", "  ", '"  " is empty; write some text'),
    ("name", " a", '" a" begins or ends with a space; remove it'),
    ("name", "-a", '"-a" begins with a hyphen and would be taken for an option; write a name that does not'),
    ("name", "x" * 129, f'"{"x" * 58}… is 129 characters long; write at most 128'),
    ("name", "a\nb", '"a\\nb" holds a line end at position 2; write one line without'),
    ("name", "a\u202eb", '"a\\u202eb" holds the character U+202E at position 2; write one line without'),
    ("name", "a\x7fb", '"a\\u007fb" holds the character U+007F at position 2; write one line without'),
    ("name", "a\ud800", '"a\\ud800" holds the character U+D800 at position 2; write one line without'),
    (
        "name",
        "7d496e82c3a15f04",
        '"7d496e82c3a15f04" looks like an ID (8 to 64 hex digits); write a name with another character in it',
    ),
    ("purpose", "one\ntwo", '"one\\ntwo" holds a line end at position 4; write it without'),
    ("purpose", "one\u2028", '"one\\u2028" holds the character U+2028 at position 4; write it without'),
    ("purpose", "a\ud800", '"a\\ud800" holds the character U+D800 at position 2; write it without'),
    ("purpose", "x" * 501, f'"{"x" * 58}… is 501 characters long; write at most 500'),
    ("description", "a\x1b[31m", '"a\\u001b[31m" holds the character U+001B at position 2; write it without'),
    ("grader", "exact", '"exact" is no grader; write json-label-match, model:MODEL or http:URL'),
    ("submissionId", "a b", '"a b" holds a space; write a token without'),
    ("config", [], "[] is no mapping; write its fields under it, such as dataset"),
    ("config", None, "null is no value; write its fields under it, such as dataset"),
    ("execution", None, "null is no value; write its fields under it, such as gpus, or leave it out"),
    ("execution", 1, "1 is no mapping; write its fields under it, such as gpus"),
    ("config.hyperparams", "lora", '"lora" is no mapping; write its fields under it, such as lora.rank'),
    ("config.hyperparams.rank", 8, "unknown field; the nearest known one is config.hyperparams.lora.rank"),
    ("learning_rate", 1, "unknown field; the nearest known one is config.hyperparams.optimizer.learningRate"),
    ("zzzzz", 1, "unknown field; remove it"),
    (
        "execution.accumulation",
        2,
        "unknown field; it follows from sequencesPerUpdate, gpus and sequencesPerPass, so set those",
    ),
    (
        "config.hyperparams.training.steps",
        2,
        "unknown field; the horizon is set by config.hyperparams.training.epochs or maxSteps",
    ),
    ("execution.gpus", 3, "3 does not divide sequencesPerUpdate, 8; write 1, 2, 4 or 8"),
    ("execution.gpus", 9, "9 is out of range; write an integer from 1 to 8"),
    ("execution.sequencesPerPass", 5, "5 does not divide sequencesPerUpdate, 8; write 1, 2, 4 or 8"),
]


@pytest.mark.parametrize(
    ("path", "value", "reason"), REFUSED, ids=[f"{path}-{n}" for n, (path, *_) in enumerate(REFUSED)]
)
def test_a_fault_is_one_exact_sentence(path, value, reason):
    """Path, the value as it was written, what is wrong, and what to write instead; and nothing else is at fault."""
    document = with_value(path, value)
    assert faults(document) == [f"{path}: {reason}"]
    with pytest.raises(Invalid) as caught:
        resolve(document)
    assert (str(caught.value), caught.value.field) == (f"{path}: {reason}", path)


ACCEPTED = [
    (RANK, 256, 256),
    (RATE, 1, 1.0),
    (RATE, 5e-324, 5e-324),
    ("config.hyperparams.lora.dropout", 0, 0.0),
    ("config.hyperparams.training.validationShare", 0.5, 0.5),
    ("config.hyperparams.training.maxSteps", None, None),
    ("config.hyperparams.training.maxSteps", 2**53 - 1, 2**53 - 1),
    ("config.hyperparams.optimizer.maxGradNorm", 0, 0.0),
    ("config.seed", 2**32 - 1, 2**32 - 1),
    ("execution.saveEvery", None, None),
    ("name", "first run, 2024-01-01", "first run, 2024-01-01"),
    ("name", "deadbee", "deadbee"),
    ("name", "DEADBEEF", "DEADBEEF"),
    ("name", "größer 中文 😀", "größer 中文 😀"),
    ("purpose", "Does a rate of 1e-3 part?", "Does a rate of 1e-3 part?"),
    ("description", "one\n\ttwo", "one\n\ttwo"),
    ("grader", "http:https://example.com/score", "http:https://example.com/score"),
    ("grader", None, None),
]


@pytest.mark.parametrize(
    ("path", "value", "meant"), ACCEPTED, ids=[f"{path}-{n}" for n, (path, *_) in enumerate(ACCEPTED)]
)
def test_a_value_resolves_to_its_fields_type(path, value, meant):
    """What is accepted resolves to the field's own type, and counts as stated."""
    made = resolve(with_value(path, value))
    found = made.descriptor
    for key in path.split("."):
        found = found[key]
    assert repr(found) == repr(meant)
    assert path in made.stated


def test_every_fault_is_reported_at_once():
    """One refusal names all faults: what is missing, what is unknown and what is out of range."""
    document = {"kind": "run", "config": {"hyperparams": {"lora": {"rank": -1}}}, "foo": 1, "execution": {"gpus": 3}}
    with pytest.raises(Invalid) as caught:
        resolve(document)
    assert str(caught.value).splitlines() == [
        "6 faults:",
        "  config.hyperparams.lora.rank: -1 is out of range; write an integer from 1 to 256",
        "  foo: unknown field; remove it",
        "  workload: missing; write the workload that the run belongs to, by name or ID",
        "  baseModel: missing; write the model that the run adapts, by repository or ID",
        "  config.dataset: missing; write the rows to train on, by name or hash",
        "  execution.gpus: 3 does not divide sequencesPerUpdate, 8; write 1, 2, 4 or 8",
    ]
    assert caught.value.field == RANK


def test_an_empty_descriptor_misses_what_is_required():
    """Without anything, exactly the required fields are missing."""
    assert faults({}) == [
        "kind: missing; write run",
        "workload: missing; write the workload that the run belongs to, by name or ID",
        "baseModel: missing; write the model that the run adapts, by repository or ID",
        "config.dataset: missing; write the rows to train on, by name or hash",
    ]


@pytest.mark.parametrize("document", [None, [], "run", 8, True])
def test_what_is_no_mapping_is_no_descriptor(document):
    """A document of another shape is one fault, of the whole."""
    assert faults(document) == [f"{json.dumps(document)} is no run descriptor; write a mapping with kind: run"]
    with pytest.raises(Invalid) as caught:
        resolve(document)
    assert caught.value.field is None


def test_a_fault_of_the_size_is_not_told_twice():
    """Whether the division comes out is judged only when its numbers are numbers."""
    document = with_value("config.hyperparams.training", "many") | {"execution": {"gpus": 3}}
    assert [problem.path for problem in problems(document)] == ["config.hyperparams.training"]


def test_keys_that_only_look_like_paths():
    """A key with a dot in it is not a path, and an odd key is shown in quotes."""
    assert faults(MINIMAL | {"config.seed": 1}) == [
        '"config.seed": unknown field; the nearest known one is config.seed'
    ]
    assert faults(MINIMAL | {"a\nb": 1}) == ['"a\\nb": unknown field; remove it']
    assert faults(MINIMAL | {8: 1}) == ["8: unknown field; remove it"]


def test_resolution_of_the_least():
    """Every default is there, in its type and in the table's order."""
    made = resolve(MINIMAL)
    assert made.stated == ("baseModel", "config.dataset", "kind", "workload")
    assert json.dumps(made.config) == json.dumps(
        {
            "dataset": "tickets",
            "method": "sft",
            "seed": 0,
            "maxSeqLength": 512,
            "model": {"precision": "FP32"},
            "hyperparams": {
                "lora": {"rank": 8, "alpha": 16.0, "dropout": 0.0},
                "optimizer": {
                    "learningRate": 0.0001,
                    "weightDecay": 0.0,
                    "beta1": 0.9,
                    "beta2": 0.999,
                    "epsilon": 1e-08,
                    "schedule": "linear",
                    "warmupSteps": 0,
                    "maxGradNorm": 1.0,
                },
                "training": {
                    "sequencesPerUpdate": 8,
                    "epochs": 1.0,
                    "maxSteps": None,
                    "validationShare": 0.1,
                    "validationFrequencySteps": 0,
                },
            },
        }
    )
    assert made.execution == {
        "gpus": 1,
        "sequencesPerPass": 8,
        "saveEvery": None,
        "keepAdapters": 3,
        "keepTrainingStates": 1,
    }
    assert made.descriptor["config"] is made.config
    assert made.descriptor["execution"] is made.execution


def test_resolving_changes_nothing_that_was_given():
    """The user's document stays as it was written."""
    document = with_value(RATE, 1)
    before = json.dumps(document)
    resolve(document).config["hyperparams"]["optimizer"]["learningRate"] = 2.0
    assert json.dumps(document) == before


GOOD = {
    "int": lambda one: st.integers(int(one.minimum), int(min(one.maximum or 100, 100))),
    "float": lambda one: (
        st.floats(0.001, 0.4) | (st.integers(1, 9) if one.below is None and not one.maximum else st.just(0.2))
    ),
    "string": lambda one: st.sampled_from(one.choices) if one.choices else st.just("json-label-match"),
}


@st.composite
def descriptors(draw):
    """Descriptors without a fault, with any of the fields set."""
    document = {}
    for one in FIELDS:
        if one.part == "division" or not (one.required or draw(st.booleans())):
            continue
        *parents, key = one.path.split(".")
        holder = document
        for parent in parents:
            holder = holder.setdefault(parent, {})
        holder[key] = draw(GOOD[one.kind](one))
    return document


@given(descriptors())
def test_resolving_twice_is_resolving_once(document):
    """A resolved descriptor is a descriptor, and means itself."""
    made = resolve(document)
    assert repr(resolve(made.descriptor).descriptor) == repr(made.descriptor)
    assert set(made.stated) <= set(BY_PATH)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(st.sampled_from(FIELDS), JSON)
def test_any_value_is_taken_or_refused(one, value):
    """No value of JSON makes anything come out but a resolution or a refusal that names the field."""
    document = with_value(one.path, value)
    found = problems(document)
    if not found:
        resolve(document)
    assert all(problem.path.startswith(one.path.split(".")[0]) for problem in found)
    assert all(str(problem).isprintable() for problem in found)


@given(JSON)
def test_any_document_is_taken_or_refused(document):
    """Whatever a document is, its faults can be told."""
    assert problems(document)


def test_notes():
    """What is allowed and probably not meant is said, and nothing else."""
    config = resolve(with_value("config.hyperparams.optimizer.warmupSteps", 20)).config
    assert notes(config, 20) == ()
    assert notes(config, 19) == (
        "config.hyperparams.optimizer.warmupSteps: 20 is more than the run's 19 updates, so the learning rate never "
        "reaches its peak",
    )
    config["hyperparams"]["optimizer"]["warmupSteps"] = 0
    config["hyperparams"]["training"] |= {"validationShare": 0.0, "validationFrequencySteps": 5}
    assert notes(config, 19) == (
        "config.hyperparams.training.validationFrequencySteps: nothing is validated, as validationShare is 0",
    )


CHOSEN = {"workload": "triage", "base_model": "akka/tiny", "dataset": "tickets"}


def test_template_is_a_descriptor():
    """What `init` writes is read and resolved as it stands, and states only what was chosen."""
    document = documents.parse(template(**CHOSEN, name="first: run", purpose="null"), source="run.yaml")
    assert document == MINIMAL | {"name": "first: run", "purpose": "null"}
    assert resolve(document).config == resolve(MINIMAL).config


def test_template_holds_every_field_at_its_default():
    """With every `#` in front of a setting taken away, the descriptor states all fields and means the same."""
    text = "\n".join(re.sub(r"^( *)# ( *\w+:)", r"\1\2", line) for line in template(**CHOSEN).splitlines())
    document = documents.parse(text, source="run.yaml")
    assert resolve(document).stated == tuple(sorted(BY_PATH))
    assert repr(resolve(document).descriptor) == repr(resolve(MINIMAL).descriptor)


def test_template_says_what_each_field_means():
    """Every field stands on a line of its own, with its meaning and its range."""
    lines = template(**CHOSEN).splitlines()
    for one in FIELDS:
        (line,) = [line for line in lines if re.match(rf"[# ]*{one.key}: ", line)]
        assert one.meaning in line
        assert one.range in line


@given(st.text(max_size=20), st.text(max_size=20))
def test_template_keeps_any_text(name, purpose):
    """Whatever name and purpose were chosen, the descriptor holds exactly them, or they are refused."""
    try:
        text = template(**CHOSEN, name=name, purpose=purpose)
    except Invalid as error:
        refused = error.field
        assert refused in ("name", "purpose")
        return
    document = documents.parse(text, source="run.yaml")
    assert (document["name"], document["purpose"]) == (name, purpose)


@given(st.sampled_from([field.path for field in FIELDS if field.kind == "float" and field.contains(0)]))
def test_the_sign_of_zero_is_no_part_of_a_plan(path):
    """A descriptor with -0.0, or 0, resolves as one with 0.0 does, to the last character."""
    texts = {json.dumps(resolve(with_value(path, zero)).descriptor) for zero in (0.0, -0.0, 0)}
    assert len(texts) == 1
    assert "-0.0" not in texts.pop()
