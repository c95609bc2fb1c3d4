"""The loop: loss, gradient, clipping and update, each against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support import decoding

from akka_optimize.records import Division
from akka_optimize.trainer.engines.decoder import loop, lora, model, tokens

SMALL = model.Shape(context=128, width=16, layers=2, heads=2, hidden=24)
ROWS = [tokens.encode(row) for row in decoding.rows(16)]
ONE = Division(1, 8, 1, 8)


def decoder():
    """A small decoder with adapters whose B is not zero, and their parameters."""
    draws = torch.Generator().manual_seed(1)
    made = model.Decoder(SMALL)
    with torch.no_grad():
        for weight in made.parameters():
            weight.normal_(std=0.2, generator=draws)
    adapter = lora.attach(made, rank=2, alpha=4.0, dropout=0.0, initial=draws, draws=draws)
    with torch.no_grad():
        for weight in adapter.values():
            weight.normal_(std=0.2, generator=draws)
    return made, list(adapter.values())


def naive_loss(made, rows):
    """Row by row, token by token: minus the log-probability of each trained token, over how many there are."""
    total, count = torch.zeros(()), 0
    for row in rows:
        ids = torch.from_numpy(row.ids.astype(np.int64))
        scores = made(ids[None])[0] @ made.embedding.weight.T  # (T, V)
        for t in range(1, len(ids)):
            if row.trained[t]:
                total = total - scores[t - 1].log_softmax(-1)[ids[t]]
                count += 1
    return total / count


def trained(made, parameters, division, limit=0.0, optimizer=None, updates=2):
    """The records of some updates of 8 rows at a rate of 0.01."""
    optimizer = optimizer or torch.optim.AdamW(parameters, fused=True, weight_decay=0.0)
    plan = [(t + 1, 0.01, ROWS[8 * t : 8 * t + 8]) for t in range(updates)]
    return list(loop.train(made, plan, optimizer, division, limit))


@pytest.mark.parametrize("passes", [1, 2, 8])
def test_the_loss_is_the_mean_over_all_trained_tokens(passes):
    """However an update is divided: one sum over its tokens by their number, never a mean of means."""
    made, parameters = decoder()
    expected = naive_loss(made, ROWS[:8]).item()
    record = trained(made, parameters, Division(1, 8 // passes, passes, 8), updates=1)[0]
    assert record.loss == pytest.approx(expected, rel=1e-5)
    assert record.tokens == sum(int(row.trained[1:].sum()) for row in ROWS[:8])


def test_an_update_is_that_of_the_plain_loop():
    """Two updates equal those of torch's own AdamW, clipping and autograd on the naive loss, records included."""
    made, parameters = decoder()
    records = trained(made, parameters, Division(1, 2, 4, 8), limit=0.5)
    plain, theirs = decoder()
    optimizer = torch.optim.AdamW(theirs, lr=0.01, weight_decay=0.0, foreach=False)
    for t, record in enumerate(records):
        loss = naive_loss(plain, ROWS[8 * t : 8 * t + 8])
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(theirs, 0.5)
        optimizer.step()
        optimizer.zero_grad()
        assert (record.step, record.learning_rate, record.clipped) == (t + 1, 0.01, norm.item() > 0.5)
        assert (record.loss, record.grad_norm) == pytest.approx((loss.item(), norm.item()), rel=1e-4)
    for mine, other in zip(parameters, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-5)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=4), min_size=1, max_size=4),
    st.one_of(st.just(0.0), st.floats(1e-3, 1e3)),
)
def test_clipping_shortens_and_never_turns(gradients, limit):
    """The norm is the one before; beyond the limit the gradient keeps its direction at the limit's length, else all."""
    parameters = [torch.zeros(len(g), requires_grad=True) for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(gradient)
    flat = [x for g in gradients for x in g]
    expected = math.sqrt(math.fsum(x * x for x in flat))
    norm, clipped = loop.clip(parameters, limit)
    assert norm == pytest.approx(expected, rel=1e-5, abs=1e-18)  # whose square is no float32
    assert clipped == (0 < limit < norm)
    left = torch.cat([p.grad for p in parameters]).tolist()
    assert left == pytest.approx([x * (limit / norm if clipped else 1) for x in flat], rel=1e-5, abs=1e-30)


@pytest.mark.parametrize(
    ("gradient", "norm", "clipped"),
    [
        pytest.param([3.0, 4.0], 5.0, True, id="beyond"),
        pytest.param([0.6, 0.8], 1.0, False, id="met-exactly"),
        pytest.param([math.inf, 1.0], math.inf, True, id="infinite"),
        pytest.param([math.nan, 1.0], math.nan, False, id="nan-exceeds-nothing"),
        pytest.param([0.0, 0.0], 0.0, False, id="zero"),
    ],
)
def test_clipping_at_one(gradient, norm, clipped):
    """What is recorded at the edges of a limit of 1."""
    parameter = torch.zeros(2, requires_grad=True)
    parameter.grad = torch.tensor(gradient)
    assert loop.clip([parameter], 1.0) == (pytest.approx(norm, nan_ok=True), clipped)


def test_the_mean_loss_is_the_same_in_any_batches():
    """Over the held-out rows: the naive mean, whatever goes through together."""
    made, _ = decoder()
    expected = naive_loss(made, ROWS).item()
    assert loop.mean_loss(made, ROWS) == pytest.approx(expected, rel=1e-5)
    assert loop.mean_loss(made, ROWS, size=3) == pytest.approx(expected, rel=1e-5)
