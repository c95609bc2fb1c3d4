"""The adapters."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from akka_optimize.trainer.engines.decoder import lora, model

SMALL = model.Shape(context=16, width=16, layers=2, heads=2, hidden=24)
IDS = torch.randint(0, 264, (2, 9), generator=torch.Generator().manual_seed(2))


def decoder():
    """A small decoder, the same each time."""
    draws = torch.Generator().manual_seed(1)
    made = model.Decoder(SMALL)
    with torch.no_grad():
        for weight in made.parameters():
            weight.normal_(std=0.3, generator=draws)
    return made


def adapted(made, *, rank=3, alpha=6.0, dropout=0.0, seed=0):
    """Put adapters on a decoder."""
    draws = torch.Generator().manual_seed(9)
    initial = torch.Generator().manual_seed(seed)
    return lora.attach(made, rank=rank, alpha=alpha, dropout=dropout, initial=initial, draws=draws)


def test_a_fresh_adapter_changes_no_bit():
    """B is zero, so the adapted model's logits are the base model's, bit for bit."""
    made = decoder()
    before = made.logits(made(IDS).flatten(0, 1))
    adapter = adapted(made)
    assert torch.equal(made.logits(made(IDS).flatten(0, 1)), before)
    assert all(not b.any() for name, b in adapter.items() if name.endswith(".B"))
    assert all(a.any() for name, a in adapter.items() if name.endswith(".A"))


def test_the_adapter_is_a_low_rank_change_of_the_weight():
    """The adapted layer computes W x + (alpha / rank) B A x."""
    draws = torch.Generator().manual_seed(4)
    base = nn.Linear(6, 5, bias=False)
    layer = lora.AdaptedLinear(base, 2, 8.0, 0.0, draws, draws)
    nn.init.normal_(layer.B, generator=draws)
    x = torch.randn(4, 7, 6, generator=draws)
    torch.testing.assert_close(layer(x), F.linear(x, base.weight + 4.0 * layer.B @ layer.A))


def test_only_adapters_are_trained():
    """Every target of every block has an adapter of the rank asked for, and nothing else takes a gradient."""
    made = decoder()
    adapter = adapted(made, rank=3)
    assert {name.rpartition(".")[0] for name in adapter} == {
        f"blocks.{i}.{target}" for i in range(SMALL.layers) for target in lora.TARGETS
    }
    assert all((p.shape[0] if name.endswith(".A") else p.shape[1]) == 3 for name, p in adapter.items())
    assert {name for name, p in made.named_parameters() if p.requires_grad} == set(adapter)


def test_the_seed_decides_the_adapter():
    """One seed gives one adapter, another seed another."""
    first, again, other = (adapted(decoder(), seed=seed) for seed in (0, 0, 1))
    name = "blocks.1.feed_forward.down.A"
    assert torch.equal(first[name], again[name])
    assert not torch.equal(first[name], other[name])


@pytest.mark.parametrize("dropout", [0.25, 0.75])
def test_dropout_keeps_the_mean_and_acts_in_training_alone(dropout):
    """In training a share of the adapter's input is zero and the rest scaled up; in evaluation nothing is drawn."""
    draws = torch.Generator().manual_seed(5)
    layer = lora.AdaptedLinear(nn.Linear(50, 50, bias=False), 2, 8.0, dropout, draws, draws)
    x = torch.ones(400, 50)
    dropped = layer._dropped(x)
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / (1 - dropout)])
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.05)
    before = draws.get_state()
    layer.eval()
    assert layer._dropped(x) is x
    assert torch.equal(draws.get_state(), before)
