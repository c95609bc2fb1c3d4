"""What a plan, its hash and the differences between two plans promise."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.core.plans import MOST_STEPS, Difference, differences, horizon, plan, plan_hash, plan_text
from akka_optimize.errors import Invalid

# Few keys and few values, among them those that are equal in Python and not in JSON: so pairs often meet.
KEYS = st.sampled_from(["a", "b", "a.b", ""])
LEAVES = st.sampled_from([None, False, True, 0, 0.0, -0.0, 1, 1.0, 10**20, 1e20, "", "1", "ä"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2), max_leaves=5
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=3)


def config(**training):
    """A small resolved config with the given `training` settings over the usual ones."""
    usual = {"sequencesPerUpdate": 8, "epochs": 1.0, "maxSteps": None, "validationShare": 0.1}
    return {"dataset": "tickets", "seed": 0, "hyperparams": {"lora": {"rank": 8}, "training": usual | training}}


def made(settings, **more):
    """The plan of `settings` on one dataset and model."""
    usual = {"dataset_hash": "d" * 64, "steps": 40, "base_model": "tiny", "revision": "r" * 64}
    return plan(settings, **(usual | more))


def leaves(document, path=()):
    """Every (path, JSON text) of a document's leaves, an empty mapping being one: the naive view of a plan."""
    if isinstance(document, dict) and document:
        return {pair for key, value in document.items() for pair in leaves(value, (*path, key))}
    return {(path, json.dumps(document, sort_keys=True))}


def test_plan_names_content_and_steps_instead_of_name_and_epochs():
    """A plan is the resolved config with the dataset's hash and the horizon, the base model's revision and source."""
    assert made(config()) == {
        "dataset": "d" * 64,
        "seed": 0,
        "hyperparams": {
            "lora": {"rank": 8},
            "training": {"sequencesPerUpdate": 8, "validationShare": 0.1, "steps": 40},
        },
        "baseModel": {"name": "tiny", "revision": "r" * 64},
        "source": None,
    }


def test_plan_leaves_the_config_as_it_was():
    """Making a plan changes nothing that it was made from."""
    settings, source = config(), {"weights": "w"}
    made(settings, source=source)["source"]["weights"] = "x"
    assert (settings, source) == (config(), {"weights": "w"})


def test_plan_does_not_depend_on_how_the_horizon_was_asked_for():
    """Two epochs and a `maxSteps` that come to one number of steps are one plan."""
    assert plan_hash(made(config(epochs=2.0))) == plan_hash(made(config(epochs=9.0, maxSteps=40)))


def test_hash_of_a_known_document():
    """The hash is the one that anybody computes from sorted JSON: a value from outside holds it."""
    assert plan_hash({"benih": 0, "dim": 4, "lr": 0.05, "langkah": 200})[:12] == "e14ea5ff5f88"


def test_hash_recomputes_from_the_file(tmp_path):
    """Both one-liners, over the file's bytes and over its parsed content, give the hash of the plan."""
    document = made(config(), source={"weights": "ä", "restore": "weights"})
    file = tmp_path / "config.json"
    file.write_text(plan_text(document))
    assert hashlib.sha256(file.read_bytes()).hexdigest() == plan_hash(document)
    again = hashlib.sha256(json.dumps(json.loads(file.read_text()), sort_keys=True).encode()).hexdigest()
    assert again == plan_hash(document)


def test_text_never_holds_nan():
    """A plan that is not JSON cannot be hashed."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        plan_text({"rate": float("nan")})


CASES = [
    pytest.param({"a": 1}, {"a": 1}, [], id="equal"),
    pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, [], id="order-of-keys-is-nothing"),
    pytest.param({"a": 8}, {"a": 8.0}, [("a", 8, 8.0)], id="integer-and-float"),
    pytest.param({"a": 1}, {"a": True}, [("a", 1, True)], id="one-and-true"),
    pytest.param({"a": 0.0}, {"a": -0.0}, [("a", 0.0, -0.0)], id="signed-zero"),
    pytest.param({"a": [1, 2]}, {"a": [1, 3]}, [("a", [1, 2], [1, 3])], id="lists-whole"),
    pytest.param({"a": [{"x": 1, "y": 2}]}, {"a": [{"y": 2, "x": 1}]}, [], id="order-of-keys-in-lists"),
    pytest.param({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, [("a.b.c", 1, 2)], id="nested"),
    pytest.param({"b": 1, "a": 1}, {"b": 2, "a": 2}, [("a", 1, 2), ("b", 1, 2)], id="sorted-by-path"),
    pytest.param({"a": {"b": 1, "c": 2}}, {}, [("a.b", 1, None), ("a.c", 2, None)], id="absent-mapping-by-leaves"),
    pytest.param({}, {"a": None}, [("a", None, None)], id="absent-is-not-null"),
    pytest.param({"a": {}}, {}, [("a", {}, None)], id="empty-mapping-is-not-absent"),
    pytest.param({"s": None}, {"s": {"w": 1}}, [("s", None, {"w": 1})], id="mapping-against-null-whole"),
    pytest.param({"a.b": 1}, {"a": {"b": 1}}, [("a.b", None, 1), ("a.b", 1, None)], id="dotted-key-is-not-nesting"),
]


@pytest.mark.parametrize(("run", "baseline", "expected"), CASES)
def test_differences(run, baseline, expected):
    """What differs, by path, with both values and their types."""
    found = [(one.path, one.run, one.baseline) for one in differences(run, baseline)]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert [path for path, *_ in found] == [path for path, *_ in expected]


@given(DOCUMENTS, DOCUMENTS)
def test_no_difference_exactly_when_the_hashes_are_equal(run, baseline):
    """The list of differences is empty in exactly the cases in which the plan is one."""
    assert (differences(run, baseline) == ()) == (plan_hash(run) == plan_hash(baseline))


@given(DOCUMENTS, st.data())
def test_one_changed_leaf_is_one_difference(document, data):
    """Changing the value at one path gives that path, and no other."""
    path, text = data.draw(st.sampled_from(sorted(leaves(document))))
    value = data.draw(LEAVES.filter(lambda leaf: json.dumps(leaf) != text))
    if not path:
        return
    other = json.loads(json.dumps(document))
    inner = other
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert [one.path for one in differences(document, other)] == [".".join(path)]


@given(DOCUMENTS, DOCUMENTS)
def test_differences_exchange(run, baseline):
    """Exchanging the two plans exchanges the two values, and nothing else."""
    turned = sorted((Difference(one.path, one.baseline, one.run) for one in differences(run, baseline)), key=repr)
    assert repr(turned) == repr(sorted(differences(baseline, run), key=repr))


HORIZONS = [
    pytest.param(80, {"epochs": 1.0}, 10, id="one-epoch"),
    pytest.param(81, {"epochs": 1.0}, 11, id="a-started-update-is-made"),
    pytest.param(80, {"epochs": 0.1}, 1, id="a-tenth-of-80-rows-is-8"),
    pytest.param(240, {"epochs": 0.1}, 3, id="a-tenth-of-240-rows-is-24"),
    pytest.param(80, {"epochs": 3.0, "maxSteps": 7}, 7, id="max-steps-is-shorter"),
    pytest.param(80, {"epochs": 1.0, "maxSteps": 700}, 10, id="epochs-are-shorter"),
    pytest.param(1, {"epochs": 1e-9}, 1, id="at-least-one"),
    pytest.param(0, {"epochs": 1.0}, 0, id="no-rows"),
    pytest.param(80, {"epochs": 1e300, "maxSteps": 5}, 5, id="max-steps-bounds-any-epochs"),
]


@pytest.mark.parametrize(("rows", "training", "steps"), HORIZONS)
def test_horizon(rows, training, steps):
    """The horizon is the shorter of the two that were asked for, in whole updates."""
    assert horizon(config(**training), rows) == steps


@given(st.integers(1, 10**6), st.integers(1, 4096), st.decimals("0.001", "99.999", places=3))
def test_horizon_is_exact(rows, size, epochs):
    """No rounding of the float stands between the epochs as written and the number of updates."""
    settings = config(epochs=float(epochs), sequencesPerUpdate=size)
    assert horizon(settings, rows) == ceil(Fraction(epochs) * rows / size)


def test_horizon_beyond_count_is_refused():
    """A horizon that JSON cannot carry exactly is refused, and the field is named."""
    with pytest.raises(Invalid, match=f"1e\\+300 comes to more than {MOST_STEPS} updates") as caught:
        horizon(config(epochs=1e300), 80)
    assert caught.value.field == "config.hyperparams.training.epochs"
