"""The table of curves: every number exact, written and read back."""

from __future__ import annotations

import csv
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.errors import Invalid
from akka_optimize.record import curves
from akka_optimize.records import Column, Metrics

HEADING = "step,attempt,loss,gradNorm,clipped,learningRate,tokens,seconds,validationLoss\n"


def column(values, *, steps=None, attempts=None):
    """A column of these values, by default of attempt 1 at the steps 1, 2, …"""
    steps = np.arange(1, len(values) + 1) if steps is None else np.asarray(steps, np.int64)
    return Column(steps, np.asarray(values, float), np.ones(len(steps), np.int64) if attempts is None else attempts)


def rows(metrics):
    """The table as the standard library reads it."""
    return list(csv.DictReader(curves.lines(metrics)))


def bits(value):
    """A float's bits; every NaN is the same."""
    return "NaN" if math.isnan(value) else struct.pack("<d", value)


def points(metrics):
    """By column, attempt and step: the bits that were recorded."""
    return {
        (name, int(attempt), int(step)): bits(value)
        for name, one in metrics.columns.items()
        for step, value, attempt in zip(one.steps, one.values, one.attempts, strict=True)
    }


def read_back(metrics):
    """The same, out of the table."""
    return {
        (name, piece.attempt, int(step)): bits(value)
        for piece in curves.read(curves.lines(metrics))
        for name, (steps, values) in piece.columns.items()
        for step, value in zip(steps, values, strict=True)
    }


@given(st.floats())
def test_a_number_reads_back_as_itself(value):
    """What the table has for a float is that float again, whole or not, and no other."""
    for whole in (False, True):
        assert bits(float(curves.text(value, whole=whole))) == bits(value)


@pytest.mark.parametrize(
    ("value", "written", "whole"),
    [
        (math.nan, "NaN", "NaN"),
        (math.inf, "Infinity", "Infinity"),
        (-math.inf, "-Infinity", "-Infinity"),
        (0.1, "0.1", "0.1"),
        (-0.0, "-0.0", "-0.0"),
        (1e17, "1e+17", "1e+17"),
        (24.0, "24.0", "24"),
        (0.0, "0.0", "0"),
    ],
)
def test_numbers_are_written_in_one_way(value, written, whole):
    """The shortest digits, words for what is not finite, and no point where a column is of whole numbers."""
    assert (curves.text(value), curves.text(value, whole=True)) == (written, whole)


@st.composite
def recorded(draw):
    """Curves of a run that was begun again: attempts one after another, some columns at some steps."""
    ends = sorted(draw(st.sets(st.integers(1, 60), min_size=1, max_size=3)))
    columns = {}
    for name in draw(st.sets(st.sampled_from(curves.COLUMNS), min_size=1)):
        steps = sorted(draw(st.sets(st.integers(1, ends[-1]), min_size=1)))
        attempts = np.searchsorted(ends, steps) + 1
        columns[name] = column(draw(st.lists(st.floats(), min_size=len(steps), max_size=len(steps))),
                               steps=steps, attempts=attempts)  # fmt: skip
    return Metrics(columns)


@given(recorded(), st.integers(1, 9))
def test_curves_are_read_back_bit_for_bit(metrics, size):
    """Every value of every column with its step and its attempt, however many lines are handled at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "LINES_AT_ONCE", size)
        assert read_back(metrics) == points(metrics)


def test_pieces_have_their_shape():
    """One attempt a piece, every line's step, and only the columns that have a value there."""
    metrics = Metrics(
        {"loss": column([3.0, 2.0, 1.0], attempts=np.array([1, 1, 2])), "validationLoss": column([2.5], steps=[3])}
    )
    first, second = curves.read(curves.lines(metrics))
    assert (first.attempt, first.steps.tolist(), set(first.columns)) == (1, [1, 2], {"loss"})
    assert (second.attempt, second.steps.tolist(), set(second.columns)) == (2, [3], {"loss", "validationLoss"})
    assert first.steps.dtype == np.int64
    assert first.columns["loss"][1].dtype == np.float64


def test_a_later_attempt_replaces_an_earlier_one():
    """A step that two attempts recorded has one line, of the later attempt."""
    both = column([3.0, 2.0, 1.0, 20.0, 10.0], steps=[1, 2, 3, 2, 3], attempts=np.array([1, 1, 1, 2, 2]))
    assert [(row["step"], row["attempt"], row["loss"]) for row in rows(Metrics({"loss": both}))] == [
        ("1", "1", "3.0"),
        ("2", "2", "20.0"),
        ("3", "2", "10.0"),
    ]


def test_what_was_not_recorded_is_empty():
    """Columns with other steps leave empty cells, and steps that only they have get their line."""
    metrics = Metrics({"loss": column([3.0, 2.0]), "validationLoss": column([2.5, 2.25], steps=[2, 5])})
    assert list(curves.lines(metrics)) == [HEADING, "1,1,3.0,,,,,,\n", "2,1,2.0,,,,,,2.5\n", "5,1,,,,,,,2.25\n"]


def test_columns_of_whole_numbers_have_no_point():
    """Counts are integers, and what is none is written whole all the same."""
    metrics = Metrics({"tokens": column([24.0, 0.0]), "clipped": column([0.5, -0.0])})
    assert [(row["tokens"], row["clipped"]) for row in rows(metrics)] == [("24", "0.5"), ("0", "-0.0")]


@pytest.mark.parametrize("columns", [{}, {"loss": column([])}])
def test_nothing_recorded_is_a_heading(columns):
    """The table is there, and has no line; reading it gives no piece."""
    assert list(curves.lines(Metrics(columns))) == [HEADING]
    assert list(curves.read([HEADING])) == []


@pytest.mark.parametrize("size", [1, 7, 50, 51])
def test_many_lines_are_written_in_blocks_and_none_is_lost(monkeypatch, size):
    """The table does not depend on how many lines are made at once."""
    monkeypatch.setattr(curves, "LINES_AT_ONCE", size)
    loss = np.linspace(3, 1, 50)
    assert [float(row["loss"]) for row in rows(Metrics({"loss": column(loss)}))] == loss.tolist()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "line 1 is not the heading"),
        (["step,loss\n"], "line 1 is not the heading"),
        ([HEADING, "1,1,,,,,,\n"], "line 2 does not have the 9 cells"),
        ([HEADING, "1,1,,,,,,,"], "line 2 does not have the 9 cells"),
        ([HEADING, "1,1,1.0,,,,,,\n", "1,1,1.0,,,,,,\n"], "line 3 does not begin with a step above"),
        ([HEADING, "0,1,1.0,,,,,,\n"], "line 2 does not begin"),
        ([HEADING, "1.5,1,1.0,,,,,,\n"], "line 2 does not begin"),
        ([HEADING, "1,0,1.0,,,,,,\n"], "line 2 does not begin"),
        ([HEADING, "1,,1.0,,,,,,\n"], "line 2 does not begin"),
        ([HEADING, "NaN,1,1.0,,,,,,\n"], "line 2 does not begin"),
        ([HEADING, "1e300,1,1.0,,,,,,\n"], "line 2 has no number in the column step"),
        ([HEADING, "1,1,1.0,,,,,,\n", "2,1,1.00,,,,,,\n"], "line 3 has no number in the column loss"),
        ([HEADING, "1,1,1_0,,,,,,\n"], "line 2 has no number in the column loss"),
        ([HEADING, "1,1, 1.0,,,,,,\n"], "line 2 has no number in the column loss"),
        ([HEADING, "1,1,nan,,,,,,\n"], "line 2 has no number in the column loss"),
        ([HEADING, "1,1,1e999,,,,,,\n"], "line 2 has no number in the column loss"),
        ([HEADING, "1,1,,,,,,,x\n"], "line 2 has no number in the column validationLoss"),
        ([HEADING, f"1,1,{'9' * 2000},,,,,,\n"], "line 2 does not have"),
    ],
)
@pytest.mark.parametrize("size", [1, 4096])
def test_a_table_of_another_form_is_refused_by_its_line(monkeypatch, lines, told, size):
    """Only what is written here is read: one text for each number, steps that ascend, whole lines."""
    monkeypatch.setattr(curves, "LINES_AT_ONCE", size)
    with pytest.raises(Invalid, match=told):
        list(curves.read(lines))
