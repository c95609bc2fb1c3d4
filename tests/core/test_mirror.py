"""Copies of curves: what they lack, and when their steps were done."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.curves import a_run, column

from akka_optimize.core import mirror
from akka_optimize.core.mirror import Curve
from akka_optimize.records import Metrics

BEGAN = "2026-01-01T00:00:00.000Z"
numbers = st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("inf")])
points = st.dictionaries(st.integers(1, 9), numbers, max_size=9)


def curve(found):
    """A curve of these values by step."""
    steps = sorted(found)
    return Curve(np.array(steps, np.int64), np.array([found[step] for step in steps], float))


def bits(curve):
    """Steps and values, a NaN equal to itself and no zero to the other."""
    return [(step, repr(value)) for step, value in zip(curve.steps.tolist(), curve.values.tolist(), strict=True)]


@given(points, points)
def test_a_copy_parts_at_the_first_step_that_is_another_one(copied, now):
    """By the definition: the smallest step whose value is another, or that is gone, or that has come before the end."""
    old, new = dict(bits(curve(copied))), dict(bits(curve(now)))
    last = max(old, default=0)
    wrong = [step for step in old | new if step <= last and old.get(step) != new.get(step)]
    assert curve(copied).parting(curve(now)) == min(wrong, default=None)


@given(points, st.integers(0, 9))
def test_a_digest_is_that_of_the_bits(found, count):
    """Two beginnings have one digest exactly where they do not part."""
    whole = curve(found)
    other = Curve(whole.steps, np.where(whole.values == 0, 0.0, np.where(whole.values == 1, 1 + 1e-12, whole.values)))
    same = bits(whole.first(count)) == bits(other.first(count))
    assert (whole.first(count).digest() == other.first(count).digest()) == same


@given(points, st.integers(1, 12))
def test_what_is_fetched_again_takes_the_place_of_what_was_known(found, cut):
    """From its first step on the newest part stands; before it, what was known does, wrong or not."""
    known = {step: value for step, value in found.items() if step < 7}
    newest = {step: value for step, value in found.items() if step >= cut}
    stale = {step: 7.0 if step >= cut else value for step, value in known.items()}
    both = mirror.joined({"loss": curve(stale)}, {"loss": curve(newest)})["loss"]
    if newest:
        first = min(newest)
        wanted = {step: value for step, value in stale.items() if step < first} | newest
    else:
        wanted = stale
    assert bits(both) == bits(curve(wanted))


def test_a_column_that_is_only_in_one_part_is_kept():
    """One that was not fetched again keeps what came before, and a new one begins."""
    known = {"loss": curve({1: 1.0, 2: 2.0}), "validationLoss": curve({1: 5.0})}
    both = mirror.joined(known, {"loss": curve({2: 2.5, 3: 3.0}), "tokens": curve({3: 8.0})})
    assert {name: dict(bits(found)) for name, found in both.items()} == {
        "loss": {1: "1.0", 2: "2.5", 3: "3.0"},
        "validationLoss": {1: "5.0"},
        "tokens": {3: "8.0"},
    }


def test_a_step_that_two_attempts_recorded_is_the_latest_ones():
    """In every column, and in who recorded it."""
    found = mirror.curves(
        Metrics(
            {"loss": column([3.0, 2.0, 1.0], [1, 2, 2], [1, 1, 2]), "seconds": column([1, 2, 4], [1, 2, 2], [1, 1, 2])}
        )
    )
    assert found["loss"].values.tolist() == [3.0, 1.0]
    assert found["attempt"].values.tolist() == [1.0, 2.0]


def test_times_are_an_attempts_beginning_and_its_seconds():
    """An attempt whose beginning nobody recorded has no times, and a run without seconds has none at all."""
    run = a_run("7d", started_at=BEGAN, attempt=3)
    spent = column([0.25, 0.5, 1.0, 2.0], attempts=[1, 1, 2, 3])
    found = mirror.curves(Metrics({"seconds": spent}))
    began = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    assert bits(mirror.done_at(run, found)) == [(1, repr(began + 0.25)), (2, repr(began + 0.75))]
    resumed = {"at": "2026-01-01T01:00:00Z", "kind": "resumed", "attempt": 3}
    run = a_run("7d", started_at=BEGAN, attempt=3, events=(resumed,))
    assert mirror.done_at(run, found).values.tolist() == [began + 0.25, began + 0.75, began + 3602.0]
    assert len(mirror.done_at(run, {"loss": spent}).steps) == 0


def test_what_is_no_finite_number_is_counted():
    """NaN and both infinities."""
    assert mirror.odd(curve({1: 1.0, 2: float("nan"), 3: float("inf"), 4: float("-inf")})) == 3
