"""Curves side by side."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.core.table import table
from akka_optimize.records import Column, Metrics


def column(*recorded: tuple[int, int, float]) -> Column:
    attempts, steps, values = zip(*recorded, strict=True)
    return Column(np.array(steps), np.array(values, float), np.array(attempts))


recordings = st.dictionaries(
    st.tuples(st.integers(1, 3), st.integers(1, 12)), st.floats(allow_nan=False), min_size=1, max_size=20
)


@given(st.dictionaries(st.sampled_from("ab"), recordings, max_size=2), st.none() | st.integers(1, 15))
def test_a_table_is_what_dictionaries_would_hold(curves, newest):
    """Every cell is the latest attempt's value for its step, as a plain dictionary finds it."""
    metrics = Metrics({n: column(*((a, s, v) for (a, s), v in sorted(c.items()))) for n, c in curves.items()})
    found = table("r", metrics, newest=newest)
    steps = sorted({s for c in curves.values() for _, s in c})[-newest if newest else 0 :]
    assert found.steps.tolist() == steps
    for name, curve in curves.items():
        latest = {s: v for (_, s), v in sorted(curve.items())}
        cells = zip(found.columns[name].tolist(), found.recorded[name].tolist(), strict=True)
        assert [v if there else None for v, there in cells] == [latest.get(s) for s in steps]


def test_what_is_not_finite_is_found_and_what_was_replaced_is_counted():
    """NaN and the infinities are told by metric and step; a replaced value is not among them."""
    found = table("r", Metrics({"loss": column((1, 1, math.nan), (1, 2, 2.0), (2, 1, 1.0), (2, 3, math.inf))}))
    assert [(each.metric, each.value, each.ranges.first_steps.tolist()) for each in found.non_finite] == [
        ("loss", "Infinity", [3])
    ]
    assert (found.columns["loss"].tolist(), found.replaced) == ([1.0, 2.0, math.inf], 1)


def test_a_run_without_metrics_has_a_table_without_rows():
    """Nothing recorded is an empty table, and no error."""
    found = table("r", Metrics({}), newest=3)
    assert (found.steps.tolist(), found.columns, found.non_finite) == ([], {}, ())
