"""Labels: the shortest names of paths, and values as they are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.curves import laws

from akka_optimize.core.labels import label, suffixes

paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(".".join)


def ends_in(path: str, suffix: str) -> bool:
    return f".{path}".endswith(f".{suffix}")


@laws
@given(st.lists(paths, min_size=1, max_size=6, unique=True))
def test_a_suffix_is_the_shortest_that_one_path_alone_ends_in(found):
    """Checked against every shorter suffix; a path in which another one ends is written whole."""
    for path, suffix in zip(found, suffixes(found), strict=True):
        assert ends_in(path, suffix)
        alone = [other for other in found if ends_in(other, suffix)] == [path]
        assert alone or suffix == path
        for shorter in (suffix.split(".", start)[-1] for start in range(1, suffix.count(".") + 1)):
            assert sum(ends_in(other, shorter) for other in found) > 1


@laws
@given(st.lists(paths, min_size=1, max_size=6, unique=True))
def test_suffixes_tell_paths_apart(found):
    """No two paths go by one name."""
    assert len(set(suffixes(found))) == len(found)


VALUES = [
    (1e-5, "a=1e-05"),
    (2.0e-4, "a=0.0002"),
    (8, "a=8"),
    (8.0, "a=8.0"),
    (True, "a=true"),
    (None, "a=null"),
    ("cosine", "a=cosine"),
    ("triage-train.v2", "a=triage-train.v2"),
    ("4b1c2f9b", "a=4b1c2f9b"),
    ("12345678", 'a="12345678"'),
    ("1e5", 'a="1e5"'),
    ("true", 'a="true"'),
    ("a b", 'a="a b"'),
    ("a, b=1", 'a="a, b=1"'),
    ("", 'a=""'),
    ("\x1b", 'a="\\u001b"'),
    ("é", 'a="é"'),
    ([1, 2], "a=[1, 2]"),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=[text for _, text in VALUES])
def test_values_are_written_as_they_are_read(value, text):
    """Numbers as JSON writes them, plain words bare, any other text in quotes."""
    assert label({"x.a": value}) == text


def test_the_order_is_the_points_own():
    """A label reads as the grid does."""
    assert label({"b.x": 1, "a.x": 2, "a.y": 3}) == "b.x=1, a.x=2, y=3"


def test_no_change_has_an_empty_label():
    """A child that changes nothing is called nothing."""
    assert label({}) == ""
