"""JSON as text."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.output import jsontext

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(), inner, max_size=4)
        | st.lists(st.dictionaries(st.text(), SCALARS, max_size=3), max_size=4)
    ),
    max_leaves=20,
)


@given(DOCUMENTS)
def test_pretty_is_what_the_standard_library_writes(document):
    """The fast way to indent gives the text that `json.dumps(indent=2)` gives."""
    expected = json.dumps(document, indent=2, ensure_ascii=False)
    assert jsontext.pretty(document) == jsontext.encodable(expected)


@given(DOCUMENTS)
def test_nothing_is_lost_in_writing(document):
    """Every digit of a float, every integer and every character comes back."""
    assert json.loads(jsontext.compact(document)) == document
    assert json.loads(jsontext.pretty(document)) == document


@pytest.mark.parametrize("text", ["},\n      {", '"},\\n{"', "},{", "[]", "{}", "\u2028", "\x00\x7f\x1b"], ids=repr)
def test_text_that_looks_like_json_stays_text(text):
    """The seams between objects are never found inside a string."""
    rows = {"rows": [{"a": text, text: 1}, {"a": text}]}
    assert jsontext.pretty(rows) == json.dumps(rows, indent=2, ensure_ascii=False)


@pytest.mark.parametrize("write", [jsontext.compact, jsontext.pretty])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_nan_and_no_infinity(write, number):
    """They become null even where a view's own document let them through."""
    assert json.loads(write({"rows": [{"x": number, "y": 1}], "z": number})) == {
        "rows": [{"x": None, "y": 1}],
        "z": None,
    }


@pytest.mark.parametrize("write", [jsontext.compact, jsontext.pretty])
def test_numbers_of_numpy_are_numbers(write):
    """An integer stays an integer, whatever made it."""
    text = write({"rows": [{"n": np.int64(2**62), "x": np.float64(0.1)}]})
    assert json.loads(text) == {"rows": [{"n": 2**62, "x": 0.1}]}


@pytest.mark.parametrize("write", [jsontext.compact, jsontext.pretty])
def test_half_a_surrogate_pair_can_be_printed(write):
    """Stored text that UTF-8 cannot carry gets the replacement character, and the command goes on."""
    text = write({"a": "x\ud800y", "b": "\U0001f600"})
    assert json.loads(text.encode()) == {"a": "x\ufffdy", "b": "\U0001f600"}


def test_characters_are_not_escaped_needlessly():
    """UTF-8 is written as it is."""
    assert jsontext.compact({"é": "日本"}) == '{"é":"日本"}'
