"""Rows as padded tensors, and how an update falls into passes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.records import Division
from akka_optimize.trainer.engines import Tokens
from akka_optimize.trainer.engines.decoder.batches import batch, cut, passes, targets
from akka_optimize.trainer.engines.decoder.tokens import PAD


@st.composite
def encoded(draw):
    """A row of 2 to 9 tokens."""
    length = draw(st.integers(2, 9))
    ids = draw(st.lists(st.integers(0, 263), min_size=length, max_size=length))
    trained = draw(st.lists(st.booleans(), min_size=length, max_size=length))
    return Tokens(np.array(ids, np.uint16), np.array(trained))


@given(st.lists(encoded(), min_size=1, max_size=5))
def test_a_batch_asks_for_every_trained_token_but_a_rows_first(rows):
    """In row order: the position before each trained token, and that token; the ids are the rows, padded right."""
    made = batch(rows)
    longest = max(len(row.ids) for row in rows) - 1
    at, wanted = [], []
    for i, row in enumerate(rows):
        assert made.ids[i].tolist() == [*row.ids.tolist(), *[PAD] * longest][:longest]
        for t in range(1, len(row.ids)):
            if row.trained[t]:
                at.append(i * longest + t - 1)
                wanted.append(int(row.ids[t]))
    assert (made.at.tolist(), made.targets.tolist()) == (at, wanted)
    assert sum(map(targets, rows)) == len(wanted)


@given(encoded(), st.integers(1, 12))
def test_a_row_is_cut_at_its_end(row, length):
    """Ids and marks keep their beginning, and stay as many as each other."""
    short = cut(row, length)
    assert short.ids.tolist() == row.ids.tolist()[:length]
    assert short.trained.tolist() == row.trained.tolist()[:length]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_every_row_is_in_one_pass_of_one_device(devices, size, accumulation):
    """Whatever the division, the passes of all devices together are the update's rows, none twice."""
    division = Division(devices, size, accumulation, devices * size * accumulation)
    rows = list(range(division.sequences_per_update))
    per_device = [passes(rows, division, device) for device in range(devices)]
    assert all(len(one) == accumulation and {len(part) for part in one} == {size} for one in per_device)
    in_turn = [row for together in zip(*per_device, strict=True) for part in together for row in part]
    assert in_turn == rows
