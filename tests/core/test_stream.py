"""Which rows an update takes: laws of the order, and values held from outside."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.core.stream import RowStream, epoch_order, hold_out_order, split
from akka_optimize.errors import Invalid

SEEDS = st.integers(0, 2**32 - 1)
ROWS = st.integers(1, 40)
SUBSETS = st.lists(st.booleans(), min_size=1, max_size=40).filter(any)
SIZES = st.integers(1, 50)


def taken(seed, eligible, updates, size):
    """The rows of the first updates, one after the other."""
    stream = RowStream(seed, len(eligible), frozenset(row for row, usable in enumerate(eligible) if usable))
    return [row for t in range(updates) for row in stream.update(t, size)]


@given(SEEDS, st.integers(0, 9), ROWS)
def test_orders_are_the_ones_anybody_can_recompute(seed, epoch, rows):
    """An order sorts the rows by the SHA-256 of a text that holds seed, use and row: written out again here."""

    def by(text):
        return sorted(range(rows), key=lambda row: hashlib.sha256(text.format(row).encode()).hexdigest())

    assert epoch_order(seed, epoch, rows) == by(f"{seed}/epoch/{epoch}/{{}}")
    assert hold_out_order(seed, rows) == by(f"{seed}/hold-out/{{}}")


def test_orders_stay():
    """These values were noted once: a run made today draws the rows that one made years ago drew."""
    assert hold_out_order(0, 8) == [4, 2, 5, 7, 6, 0, 1, 3]
    assert epoch_order(0, 0, 8) == [7, 6, 2, 5, 3, 0, 1, 4]
    assert epoch_order(0, 1, 8) == [6, 3, 1, 5, 2, 0, 7, 4]


@given(SEEDS, SUBSETS)
def test_every_epoch_is_a_permutation(seed, eligible):
    """Each training row comes once in an epoch, and no other row ever does."""
    usable = [row for row, is_in in enumerate(eligible) if is_in]
    rows = taken(seed, eligible, 3 * len(usable), 1)
    for epoch in range(3):
        assert sorted(rows[epoch * len(usable) : (epoch + 1) * len(usable)]) == usable


@given(SEEDS, SUBSETS, SIZES, SIZES)
def test_the_stream_does_not_depend_on_the_size_of_updates(seed, eligible, size, other):
    """Updates of any size cut one and the same stream of rows."""
    first, second = taken(seed, eligible, 4, size), taken(seed, eligible, 5, other)
    shared = min(len(first), len(second))
    assert len(first) == 4 * size
    assert first[:shared] == second[:shared]


@given(SEEDS, SUBSETS, st.data())
def test_leaving_rows_out_keeps_the_order_of_the_others(seed, eligible, data):
    """A row that may not take part leaves a gap that the others close, and changes nothing among them."""
    out = data.draw(st.integers(0, len(eligible) - 1))
    fewer = [usable and row != out for row, usable in enumerate(eligible)]
    if not any(fewer):
        return
    before = [row for row in taken(seed, eligible, sum(eligible), 1) if row != out]
    assert taken(seed, fewer, sum(fewer), 1) == before


@given(SEEDS, SUBSETS, SIZES, st.lists(st.integers(0, 30), max_size=6))
def test_updates_can_be_asked_for_in_any_order(seed, eligible, size, ts):
    """An update is a function of its number: a resumed run takes the rows that an unbroken one takes."""
    training = frozenset(row for row, usable in enumerate(eligible) if usable)
    stream = RowStream(seed, len(eligible), training)
    for t in ts:
        assert stream.update(t, size) == RowStream(seed, len(eligible), training).update(t, size)


@given(SEEDS, st.lists(st.booleans(), max_size=60), st.floats(0, 0.5))
def test_split(seed, eligible, share):
    """The first `round(share * rows)` of the order over all rows are held out, whoever of them is eligible."""
    made = split(seed, eligible, share)
    held = set(hold_out_order(seed, len(eligible))[: round(share * len(eligible))])
    usable = {row for row, is_in in enumerate(eligible) if is_in}
    assert set(made.held_out) == held & usable
    assert set(made.training) == usable - held
    assert made.skipped == len(eligible) - len(usable)
    assert list(made.training) == sorted(made.training)
    assert list(made.held_out) == sorted(made.held_out)


@given(SEEDS, ROWS, st.floats(0, 0.5), st.integers(0, 200))
def test_held_out_rows_never_come(seed, rows, share, updates):
    """No update ever takes a row that is held out."""
    made = split(seed, [True] * rows, share)
    stream = RowStream(seed, rows, frozenset(made.training))
    assert not set(stream.update(updates, 7)) & set(made.held_out)


@pytest.mark.parametrize(
    ("rows", "share", "held"), [(25, 0.1, 2), (35, 0.1, 4), (10, 0.25, 2), (1, 0.5, 0), (0, 0.5, 0)]
)
def test_split_rounds_half_to_even(rows, share, held):
    """The number of rows held out is Python's `round`, so that anybody can recompute it."""
    assert len(split(0, [True] * rows, share).held_out) == held


def test_another_seed_draws_other_rows():
    """The seed alone decides the order, and two seeds do not share one."""
    assert len({tuple(epoch_order(seed, epoch, 50)) for seed in range(5) for epoch in range(5)}) == 25


def test_no_row_at_all_is_refused():
    """A stream without rows would never end an update."""
    with pytest.raises(Invalid, match="no row is left to train on"):
        RowStream(0, 3, frozenset())


def test_an_epoch_is_ordered_once(monkeypatch):
    """Going through an epoch update by update sorts it once, so that an update stays cheap."""
    from akka_optimize.core import stream as module

    calls = []
    ordered = module._ordered
    monkeypatch.setattr(module, "_ordered", lambda *arguments: calls.append(arguments) or ordered(*arguments))
    stream = RowStream(0, 100, range(100))
    for t in range(25):
        stream.update(t, 8)
    assert len(calls) == 2
