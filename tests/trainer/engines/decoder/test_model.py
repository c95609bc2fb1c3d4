"""The network: what each of its parts promises."""

from __future__ import annotations

import pytest
import torch

from akka_optimize.trainer import base_models
from akka_optimize.trainer.engines.decoder import model

SMALL = model.Shape(context=16, width=16, layers=2, heads=2, hidden=24)


@pytest.fixture
def small():
    """A decoder with every weight drawn at random."""
    made = model.Decoder(SMALL).requires_grad_(False)
    draws = torch.Generator().manual_seed(1)
    for weight in made.parameters():
        weight.normal_(std=0.3, generator=draws)
    return made


IDS = torch.randint(0, 264, (3, 9), generator=torch.Generator().manual_seed(2))


def test_no_token_sees_what_comes_after_it(small):
    """Changing a row's end leaves the states before it as they were, so padding cannot be seen."""
    changed = IDS.clone()
    changed[:, 5:] = 256
    torch.testing.assert_close(small(IDS)[:, :5], small(changed)[:, :5], rtol=0, atol=1e-6)
    assert not torch.allclose(small(IDS)[:, 5:], small(changed)[:, 5:])


def test_a_row_does_not_depend_on_its_company(small):
    """A row alone and in a batch has the same states."""
    torch.testing.assert_close(small(IDS)[1:2], small(IDS[1:2]), rtol=0, atol=1e-6)


def test_the_order_of_tokens_matters(small):
    """The last state of a row and of the same tokens in another order differ: positions are seen."""
    assert not torch.allclose(small(IDS)[:, -1], small(IDS[:, [1, 0, *range(2, 9)]])[:, -1], atol=1e-4)


def test_turning_keeps_lengths_and_knows_only_distances():
    """Rotary positions: every pair keeps its length, and a product of two depends on how far apart they are."""
    draws = torch.Generator().manual_seed(3)
    q, k = (torch.randn(8, generator=draws).expand(1, 16, 1, 8) for _ in range(2))
    by = model.turns(16, 8)
    turned_q, turned_k = model.rotate(q, by), model.rotate(k, by)
    torch.testing.assert_close(turned_q.norm(dim=-1), q.norm(dim=-1))
    products = turned_q[0, :, 0] @ turned_k[0, :, 0].T  # (16, 16)
    for distance in range(-15, 16):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=1e-4, atol=1e-4)


def test_turning_agrees_with_its_formula():
    """Pair i at position p is turned by p / 10000^(2 i / size)."""
    x = torch.zeros(1, 3, 1, 4)
    x[..., 0] = x[..., 2] = 1.0
    angles = torch.tensor([[p * 1.0, p / 100.0] for p in range(3)])
    expected = torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(1)
    torch.testing.assert_close(model.rotate(x, model.turns(3, 4))[0, :, 0], expected)


def test_weights_come_back_from_their_file(small, tmp_path):
    """A loaded decoder has the shape and the bits of the saved one, and equal weights give equal files."""
    model.save(small, tmp_path / "a.safetensors")
    model.save(model.load(tmp_path / "a.safetensors"), tmp_path / "b.safetensors")
    assert model.load(tmp_path / "a.safetensors").shape == SMALL
    assert torch.equal(model.load(tmp_path / "a.safetensors")(IDS), small(IDS))
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_the_shipped_model_is_what_the_table_says():
    """Parameters and context of the table are those of the weights."""
    entry = base_models.find("akka/byte-decoder-1m")
    shipped = model.load(base_models.weights_path(entry))
    assert sum(p.numel() for p in shipped.parameters()) == entry.parameters
    assert shipped.shape.context == entry.context_length
