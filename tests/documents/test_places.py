"""The place of every entry of a document."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize import documents
from akka_optimize.errors import Invalid

KEYS = st.text("abc", min_size=1, max_size=3)
LEAVES = st.none() | st.booleans() | st.integers() | st.text("xyz 1", max_size=5)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Reads a text from a file with places."""
    folder = tmp_path_factory.mktemp("documents")

    def reading(text: str, name: str = "d.yaml"):
        (folder / name).write_bytes(text.encode())
        return documents.read_located(str(folder / name))

    return reading


def entries(keys, value):
    yield keys, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from entries((*keys, key), inner)


def offset(text, place):
    line, column = place
    return sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - 1


@given(value=VALUES, indent=st.sampled_from([None, 1]))
def test_json_is_found_again_at_its_place(read, value, indent):
    """What stands at an entry's place is its key, or the item itself."""
    text = json.dumps(value, indent=indent)
    document, places = read(text, "d.json")
    assert list(places) == [keys for keys, _ in entries((), document)]
    assert len(places) == len(list(places))
    for keys, inner in entries((), document):
        found, _ = json.JSONDecoder().raw_decode(text, offset(text, places[keys]))
        assert found == (keys[-1] if keys and isinstance(keys[-1], str) else inner)


def composed(keys, node):
    """Every entry's place as PyYAML's own composer tells it."""
    if isinstance(node, yaml.MappingNode):
        for key, inner in node.value:
            yield (*keys, key.value), key.start_mark
            yield from composed((*keys, key.value), inner)
    elif isinstance(node, yaml.SequenceNode):
        for index, inner in enumerate(node.value):
            yield (*keys, index), inner.start_mark
            yield from composed((*keys, index), inner)


@given(value=VALUES, flow=st.sampled_from([None, False, True]))
def test_yaml_is_placed_as_its_own_composer_places_it(read, value, flow):
    """In blocks and in flows, with line and column from 1."""
    text = yaml.safe_dump(value, default_flow_style=flow, sort_keys=False)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    expected = {(): root.start_mark, **dict(composed((), root))}
    _, places = read(text)
    assert dict(places) == {keys: (mark.line + 1, mark.column + 1) for keys, mark in expected.items()}


def test_what_an_alias_repeats_stands_where_the_alias_does(read):
    """Its own place, and not that of what it repeats."""
    document, places = read("a: &x [1, {b: 2}]\nc:\n- *x\n- 3\n")
    assert document["c"] == [[1, {"b": 2}], 3]
    inner = [("c", 0), ("c", 0, 0), ("c", 0, 1), ("c", 0, 1, "b")]
    assert [places[keys] for keys in inner] == [(3, 3)] * 4
    assert places["c", 1] == (4, 3)


def test_an_alias_as_a_key_stands_where_it_is(read):
    """It is an entry like another."""
    _, places = read("a: &k b\n*k : 1\n")
    assert dict(places) == {(): (1, 1), ("a",): (1, 1), ("b",): (2, 1)}


@pytest.mark.parametrize("text", ["# nothing\n", "# nothing\n---\n", "null\n"], ids=["comment", "marker", "null"])
def test_a_document_without_anything_has_a_place(read, text):
    """That of the document itself."""
    document, places = read(text)
    assert document is None
    assert list(places) == [()]


def test_line_ends_and_a_byte_order_mark(read):
    """Lines end in any way that a file has them end; the mark is no column."""
    _, places = read("\ufeffa:\r\n  - é\r\n  - b\r\n")
    assert dict(places) == {(): (1, 1), ("a",): (1, 1), ("a", 0): (2, 5), ("a", 1): (3, 5)}


def test_an_entry_that_is_not_there_has_no_place(read):
    """As in any mapping."""
    _, places = read("a: 1\n")
    assert ("b",) not in places
    assert places.get(("a", 0)) is None


def test_what_cannot_be_read_is_refused_as_ever(read):
    """The place of a fault comes with the refusal."""
    with pytest.raises(Invalid, match=r"d.yaml:2:1: the key \"a\" appears twice"):
        read("a: 1\na: 2\n")
