"""Text for people: tables, blocks, and what a terminal must not be told."""

from __future__ import annotations

import math
import unicodedata
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.output import text
from akka_optimize.output.view import Column, Field, View
from akka_optimize.records import Page

ROW = View(
    "row",
    fields=(Field("name"), Field("size"), Field("inner")),
    columns=(
        Column("NAME", "name"),
        Column("SIZE", "size"),
        Column("DEEP", "inner.x"),
        Column("LONG", lambda row: len(row.name)),
    ),
    plural="rows",
    to_json=vars,
)


def row(name: str | None, size: float | None, inner: object = None) -> SimpleNamespace:
    """A record."""
    return SimpleNamespace(name=name, size=size, inner=inner)


def test_a_table_aligns_its_columns():
    """Text to the left, numbers to the right, a dash for what is missing, no blanks at a line's end."""
    listed = [row("a", 5, {"x": "q"}), row("long name", None), row("", 1234)]
    assert text.render(ROW, listed) == (
        "NAME       SIZE  DEEP  LONG\n"
        "a             5  q        1\n"
        "long name     —  —        9\n"
        "—          1234  —        0\n"
    )


def test_an_empty_list_shows_its_headings():
    """So that a reader sees that the command worked."""
    assert text.render(ROW, []) == "NAME  SIZE  DEEP  LONG\n"


def test_nothing_is_cut_or_wrapped():
    """A cell of any length stays on its line, whole."""
    assert "x" * 500 in text.render(ROW, [row("x" * 500, 1)]).split("\n")[1]


@pytest.mark.parametrize(
    ("page", "footer"),
    [
        pytest.param(Page((row("a", 1), row("b", 2)), 0, 2), "", id="whole"),
        pytest.param(Page((row("a", 1), row("b", 2)), 0, 5), "1 to 2 of 5 rows.\n", id="first-part"),
        pytest.param(Page((row("a", 1),), 4, 5), "5 to 5 of 5 rows.\n", id="last-part"),
        pytest.param(Page((), 9, 5), "none of 5 rows.\n", id="beyond-the-end"),
    ],
)
def test_a_part_of_a_list_says_which(page, footer):
    """A list that is not whole ends with its place in the whole."""
    assert text.footer(ROW, page) == footer


def test_a_block_labels_each_row():
    """One record: a label and a value a line; a value of many lines stays in its column."""
    assert text.render(ROW, row("first\nsecond", 1.5)) == ("NAME  first\n      second\nSIZE  1.5\nDEEP  —\nLONG  12\n")


def test_a_block_may_have_rows_of_its_own():
    """`block` replaces the columns for one record, and not for a list."""
    view = View(
        "x", fields=(Field("name"),), columns=(Column("N", "name"),), block=(Column("Name", "name"),), to_json=vars
    )
    assert text.render(view, SimpleNamespace(name="a")) == "Name  a\n"
    assert text.table(view, [SimpleNamespace(name="a")]) == "N\na\n"


def test_a_view_may_write_its_own_text():
    """`to_text` is the whole text of a record; a newline at its end is seen to."""
    view = View("x", fields=(), to_text=lambda record: f"<{record}>")
    assert text.render(view, 1) == "<1>\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "—"),
        ("", "—"),
        ((), "—"),
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        (2**60, str(2**60)),
        (0.1 + 0.2, "0.3"),
        (1e-05, "1e-05"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (("a", 1, None), "a, 1, —"),
        ({"k": "é"}, '{"k": "é"}'),
        ("a\tb\nc\x1b[31m", r"a\tb\nc\x1b[31m"),
    ],
    ids=repr,
)
def test_cells(value, shown):
    """Each kind of value has one way to be read."""
    assert text.cell(value) == shown


@pytest.mark.parametrize(
    "character",
    ["\x00", "\x07", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\u200f", "\ud800"],
    ids=lambda c: f"U+{ord(c):04X}",
)
def test_what_steers_a_terminal_is_written_out(character):
    """Escape sequences, marks that reorder text, and broken characters are seen, not obeyed."""
    assert text.visible(f"a{character}b") == "a" + character.encode("unicode_escape").decode() + "b"


@given(st.text())
def test_visible_text_holds_no_control_character(value):
    """Whatever was stored, what is shown has no control character but, on request, line breaks and tabs."""
    assert not any(unicodedata.category(c) in {"Cc", "Cs"} for c in text.visible(value))
    kept = text.visible(value, newlines=True)
    assert {c for c in kept if unicodedata.category(c) in {"Cc", "Cs"}} <= {"\n", "\t"}


@given(st.text(st.characters(categories=("L", "N", "P"))))
def test_readable_text_is_left_alone(value):
    """Letters of any script pass untouched."""
    assert text.visible(value) == value


def test_wide_characters_take_two_columns():
    """A table with Chinese or combined characters still lines up."""
    assert text.width("日本") == 4
    assert text.width("e\u0301") == 1
    assert text.grid(["A", "B"], [["日本", "x"], ["abcd", "y"]]) == "A     B\n日本  x\nabcd  y\n"
