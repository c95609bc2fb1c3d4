"""What an engine was asked for beside what it made of that."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.output.views import engine
from akka_optimize.records import EngineConfig

leaf = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    leaf, lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("abc", min_size=1), below, max_size=3)
)
objects = st.dictionaries(st.text("abc", min_size=1), documents, max_size=4)


def between(requested, resolved):
    """The paths at which the two differ."""
    return [found["path"] for found in engine.differences(EngineConfig("7d", requested, resolved))]


@pytest.mark.parametrize(
    ("wanted", "made", "differs"),
    [
        (8, 8.0, False),
        (1, True, True),
        (False, 0, True),
        (None, "cpu", False),
        ("cuda", None, True),
        ([0.9, 0.99], [0.9, 0.99], False),
        ([0.9], [0.9, 0.99], True),
        ("FP32", "BF16", True),
    ],
)
def test_values_differ_as_settings_do(wanted, made, differs):
    """A number is the same in either spelling, a boolean is no number, and null asks for nothing."""
    assert between({"a": wanted}, {"a": made}) == (["a"] if differs else [])


def test_what_was_asked_for_and_is_not_there_differs():
    """An engine that leaves a setting out does otherwise than asked."""
    (found,) = engine.differences(EngineConfig("7d", {"a": {"b": 1}}, {"a": {}}))
    assert found == {"path": "a.b", "requested": 1, "resolved": None}


@given(objects)
def test_a_document_does_not_differ_from_itself(document):
    """Whatever it holds, by value or through JSON."""
    assert between(document, document) == []
    assert between(document, json.loads(json.dumps(document))) == []


@given(objects, objects)
def test_any_two_documents_can_be_shown(requested, resolved):
    """A line for the headings and one for each path of either; nothing in them breaks a line."""
    text = engine.ENGINE_CONFIG.to_text(EngineConfig("7d", requested, resolved))
    paths = {path for document in (requested, resolved) for path, _ in engine.flat(document)}
    assert len(text.split("\n")) == len(paths) + 2
