"""`training runs metrics`."""

from __future__ import annotations

import csv
import io
import json
from unittest.mock import call

import pytest
from support.commands_fake import RUN, carry_out

from akka_optimize.records import MetricsTable


def test_the_curves_are_one_table():
    """The run is looked up, and all its curves are fetched by its id."""
    done = carry_out("training runs metrics first")
    (table,) = done.emitted
    assert isinstance(table, MetricsTable)
    assert (done.code, table.run_id, table.steps.tolist()) == (0, RUN.run_id, [1, 2, 3])
    assert done.calls == [call.run("first"), call.metrics(RUN.run_id, last_steps=0)]


def test_a_limit_is_asked_of_the_service():
    """Not the whole curve is sent to show its end."""
    done = carry_out("training runs metrics first --limit 2")
    assert done.calls[1] == call.metrics(RUN.run_id, last_steps=2)
    assert done.emitted[0].steps.tolist() == [2, 3]


def test_fields_are_columns_of_the_text():
    """The loss alone, unless more are named; the JSON always holds all of them."""
    assert "GRADIENT NORM" not in carry_out("training runs metrics first").out
    assert "GRADIENT NORM" in carry_out("training runs metrics first --fields gradNorm").out
    document = json.loads(carry_out("training runs metrics first --fields gradNorm -o json").out)
    assert document == json.loads(carry_out("training runs metrics first -o json").out)


@pytest.mark.parametrize("words", ["--fields nonsense", "--fields ,", "--limit 0", "--limit x"])
def test_bad_options_cost_no_request(words):
    """An unknown column and a limit of nothing are wrong usage."""
    done = carry_out(f"training runs metrics first {words}")
    assert (done.code, done.out, done.calls) == (2, "", [])


def test_csv_is_for_spreadsheets():
    """A heading and a line for each step, that a CSV reader reads back."""
    done = carry_out("training runs metrics first -o csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["step"], float(row["loss"])) for row in rows] == [("1", 3.0), ("2", 2.0), ("3", 1.0)]
