"""A view: its declaration, and the document it makes of a record."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.output.view import Column, Field, View, camel, document, items, plain
from akka_optimize.records import Page


@dataclass(frozen=True, slots=True)
class Part:
    """Something nested."""

    size_bytes: int


@dataclass(frozen=True)
class Thing:
    """A record with one attribute of each kind."""

    thing_id: str
    parts: tuple[Part, ...] = ()
    settings: dict = field(default_factory=dict)
    score: float | None = None


THING = View(
    "thing",
    fields=(Field("thingId"), Field("parts"), Field("settings"), Field("score")),
    columns=(Column("ID", "thingId"),),
    plural="things",
)


def test_a_column_that_names_no_field_fails_at_once():
    """Fields and columns cannot drift apart: the view cannot be made."""
    with pytest.raises(ValueError, match="column B names no field: b"):
        View("x", fields=(Field("a"),), columns=(Column("A", "a"), Column("B", "b")))
    with pytest.raises(ValueError, match=r"names no field: b\.c"):
        View("x", fields=(Field("a"),), block=(Column("B", "b.c"),))


def test_a_field_stands_once():
    """Two fields of one name would make `--json` ambiguous."""
    with pytest.raises(ValueError, match="twice"):
        View("x", fields=(Field("a"), Field("a")))


def test_attributes_become_camel_case_and_keys_of_documents_stay():
    """Our names are translated; the user's own keys are not."""
    thing = Thing("1", (Part(3), Part(4)), {"snake_key": {"x_y": 1}})
    assert THING.document(thing) == {
        "thingId": "1",
        "parts": [{"sizeBytes": 3}, {"sizeBytes": 4}],
        "settings": {"snake_key": {"x_y": 1}},
        "score": None,
    }


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_not_finite_is_null(number):
    """JSON knows neither NaN nor Infinity, at any depth."""
    assert plain(Thing("1", settings={"a": [number]}, score=number))["score"] is None
    assert plain({"a": [{"b": number}]}) == {"a": [{"b": None}]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(np.int64(2**53 + 1), 2**53 + 1, id="numpy-integer"),
        pytest.param(np.float64(0.1), 0.1, id="numpy-float"),
        pytest.param(np.array([1.5, np.inf]), [1.5, None], id="array"),
        pytest.param(np.bool_(True), True, id="numpy-bool"),
        pytest.param((1, "a"), [1, "a"], id="tuple"),
        pytest.param(2**80, 2**80, id="big-integer"),
        pytest.param(True, True, id="bool"),
    ],
)
def test_plain_values(value, expected):
    """Each kind of value has one JSON form, of the same kind of number."""
    found = plain(value)
    assert found == expected
    assert isinstance(found, type(expected))


def test_a_value_without_a_json_form_is_a_fault():
    """Nothing is turned into text in silence."""
    with pytest.raises(TypeError, match="set has no JSON form"):
        plain({"a": {1}})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_plain_documents_are_json(value):
    """Whatever the document, what comes out can be written without NaN."""
    json.dumps(plain(value), allow_nan=False)


def test_a_list_is_an_object_with_one_plural_key():
    """`{"things": […]}`, and where a page is shown, which part of the whole it is."""
    one = {"thingId": "1", "parts": [], "settings": {}, "score": None}
    assert document(THING, [Thing("1")]) == {"things": [one]}
    assert document(THING, Page((Thing("1"),), 4, 9)) == {"things": [one], "offset": 4, "total": 9}
    assert document(THING, ()) == {"things": []}


def test_names_limit_each_item_in_the_order_asked():
    """`--json score,thingId` keeps those two, and their order."""
    assert json.dumps(document(THING, Thing("1"), ("score", "thingId"))) == '{"score": null, "thingId": "1"}'
    assert document(THING, (Thing("1"), Thing("2")), ("thingId",)) == {"things": [{"thingId": "1"}, {"thingId": "2"}]}


def test_a_view_without_a_plural_shows_no_lists():
    """Handing it one is a fault of ours."""
    with pytest.raises(TypeError, match="shows no lists"):
        document(View("x", fields=(Field("a"),)), [])


def test_items_tells_lists_from_records():
    """A page, a tuple and a list are lists; a record and a document are not."""
    assert items(Page((1,), 0, 1)) == (1,)
    assert items([1]) == items((1,)) == (1,)
    assert items(Thing("1")) is None
    assert items({"a": 1}) is None


@pytest.mark.parametrize(
    ("name", "expected"), [("run_id", "runId"), ("loss", "loss"), ("max_abs_window", "maxAbsWindow")]
)
def test_camel(name, expected):
    """snake_case becomes camelCase."""
    assert camel(name) == expected
