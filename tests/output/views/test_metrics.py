"""A run's curves as JSON, CSV and text."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from akka_optimize.errors import WrongUsage
from akka_optimize.output.views.metrics import METRICS, to_csv, to_json, with_columns
from akka_optimize.records import MetricsTable, NonFinite, Ranges

STEPS = np.array([1, 2])
TABLE = MetricsTable(
    "r",
    STEPS,
    {
        "loss": np.array([0.1 + 0.2, math.nan]),
        "gradNorm": np.array([1.0, math.inf]),
        "clipped": np.array([0.0, 1.0]),
        "tokens": np.array([7.0, 9.0]),
        "validationLoss": np.array([0.0, 2.0]),
    },
    {
        **dict.fromkeys(["loss", "gradNorm", "clipped", "tokens"], np.array([True, True])),
        "validationLoss": np.array([False, True]),
    },
    (NonFinite("loss", "NaN", Ranges(STEPS[1:], STEPS[1:], np.array([1]))),),
    3,
)


def test_json_holds_every_metric_in_its_own_type():
    """Integers stay integers, floats keep every digit, what is missing or no finite number is null and told apart."""
    document = to_json(TABLE)
    assert document["measurements"] == [
        {"step": 1, "loss": 0.30000000000000004, "validationLoss": None, "gradNorm": 1.0, "clipped": False,
         "learningRate": None, "tokens": 7, "seconds": None},
        {"step": 2, "loss": None, "validationLoss": 2.0, "gradNorm": None, "clipped": True, "learningRate": None,
         "tokens": 9, "seconds": None},
    ]  # fmt: skip
    assert document["nonFinite"] == [{"metric": "loss", "value": "NaN", "firstStep": 2, "lastStep": 2, "steps": 1}]
    assert document["replaced"] == 3
    assert '"tokens": 7,' in json.dumps(document, allow_nan=False)


def test_csv_reads_back_digit_by_digit():
    """The csv reader and float() give back what was recorded, an empty cell where nothing was."""
    first, second = csv.DictReader(io.StringIO(to_csv(TABLE)))
    assert (float(first["loss"]), first["validationLoss"], first["tokens"]) == (0.1 + 0.2, "", "7")
    assert math.isnan(float(second["loss"]))
    assert (float(second["gradNorm"]), second["clipped"]) == (math.inf, "1")


def test_the_table_shows_the_usual_columns_and_those_asked_for():
    """`--fields` adds columns; JSON is the same whether or not it is given."""
    view = with_columns("gradNorm, clipped")
    assert view.to_text(TABLE).splitlines() == [
        "STEP  LOSS  VALIDATION LOSS  GRADIENT NORM  CLIPPED",
        "   1   0.3                —              1  no",
        "   2   NaN                2       Infinity  yes",
    ]
    assert view.document(TABLE) == METRICS.document(TABLE)


@pytest.mark.parametrize("fields", ["", "losss", "loss,,gradNorm"])
def test_a_column_that_runs_do_not_record_is_wrong_usage(fields):
    """The names there are, are told."""
    with pytest.raises(WrongUsage, match="--fields") as caught:
        with_columns(fields)
    assert "gradNorm" in caught.value.hint
