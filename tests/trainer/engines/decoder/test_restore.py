"""A saved adapter under another rank and alpha: the same function, or the nearest one, with its error."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file
from support import life

from akka_optimize.errors import Refused
from akka_optimize.trainer.engines.decoder import restore

INS, OUTS = 9, 7


def adapter(rank, alpha=16.0, *, seed=0, layers=2, zeros=0):
    """An adapter of random numbers, the last `zeros` columns of B untrained."""
    draw = np.random.default_rng(seed)
    made = {}
    for layer in range(layers):
        up = draw.standard_normal((OUTS, rank)).astype(np.float32)
        up[:, rank - zeros :] = 0
        made[f"layer{layer}"] = (draw.standard_normal((rank, INS)).astype(np.float32), up)
    return restore.Adapter(rank, alpha, made)


def written(path, saved):
    """The adapter as a run writes it."""
    tensors = {f"{name}.{which}": part for name, (a, b) in saved.layers.items() for which, part in (("A", a), ("B", b))}
    about = {"rank": saved.rank, "alpha": saved.alpha}
    save_file(tensors, path, metadata={"akka-optimize": json.dumps(about)})
    return path


def fitted(saved, rank, alpha):
    """The child's adapter, from fresh rows that are all 5."""
    fresh = {name: np.full((rank, INS), 5, np.float32) for name in saved.layers}
    tensors = dict(restore.fitted(saved, fresh, rank=rank, alpha=alpha))
    return restore.Adapter(rank, alpha, {name: (tensors[f"{name}.A"], tensors[f"{name}.B"]) for name in saved.layers})


def functions(held):
    """What each layer adds to the weights, float64 (layers, out, in)."""
    scale = held.alpha / held.rank
    return np.stack([scale * b.astype(np.float64) @ a.astype(np.float64) for a, b in held.layers.values()])


def nearest(matrices, rank):
    """The best approximation of each matrix by one of that rank, by the textbook."""
    u, sizes, v = np.linalg.svd(matrices, full_matrices=False)
    return (u[:, :, :rank] * sizes[:, None, :rank]) @ v[:, :rank]


def test_what_fits_is_copied_bit_for_bit():
    """Same rank and alpha: not a bit changes."""
    saved = adapter(4)
    made = fitted(saved, 4, 16.0)
    for name, parts in saved.layers.items():
        assert [part.tobytes() for part in made.layers[name]] == [part.tobytes() for part in parts]


@settings(deadline=None, max_examples=40)
@given(
    saved=st.integers(1, 12),
    more=st.integers(0, 8),
    alpha=st.floats(0.5, 64),
    before=st.floats(0.5, 64),
    seed=st.integers(0, 99),
)
def test_a_rank_that_suffices_keeps_the_function(saved, more, alpha, before, seed):
    """Whatever the scale, (alpha / rank) B A is the same to float32's last digits."""
    parent = adapter(saved, before, seed=seed)
    child = fitted(parent, saved + more, alpha)
    wanted = functions(parent)
    np.testing.assert_allclose(functions(child), wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
    assert {part.dtype for parts in child.layers.values() for part in parts} == {np.dtype(np.float32)}


def test_further_directions_are_fresh_and_say_nothing_yet():
    """A larger rank adds fresh rows of A, beside zero columns of B."""
    saved = adapter(2)
    for name, (a, b) in fitted(saved, 5, 16.0).layers.items():
        assert np.array_equal(a[:2], saved.layers[name][0])
        assert (a[2:] == 5).all()
        assert not b[:, 2:].any()


@settings(deadline=None, max_examples=40)
@given(
    saved=st.integers(2, 12),
    rank=st.integers(1, 11),
    alpha=st.floats(0.5, 64),
    zeros=st.integers(0, 2),
    seed=st.integers(0, 99),
)
def test_a_rank_that_does_not_suffice_keeps_the_nearest(tmp_path_factory, saved, rank, alpha, zeros, seed):
    """The child has the best approximation of that rank, and the relative error is that of the textbook."""
    rank = min(rank, saved - 1)
    parent = adapter(saved, seed=seed, zeros=min(zeros, saved - 1))
    child = fitted(parent, rank, alpha)
    whole, best = functions(parent), nearest(functions(parent), rank)
    np.testing.assert_allclose(functions(child), best, rtol=0, atol=1e-5 * np.abs(whole).max())
    path = written(tmp_path_factory.mktemp("weights") / "weights.safetensors", parent)
    error = np.linalg.norm(whole - best) / np.linalg.norm(whole)
    assert restore.relative_error(path, rank) == pytest.approx(error, abs=1e-9)


def test_what_is_cut_can_go_on_learning():
    """A direction that B has not used yet is kept with a row of A as long as the others: none is dead."""
    child = fitted(adapter(6, zeros=5), 3, 16.0)
    for a, _ in child.layers.values():
        lengths = np.linalg.norm(a, axis=1)
        assert lengths == pytest.approx(np.full(3, lengths[0]), rel=1e-5)
        assert lengths[0] > 1


@pytest.mark.parametrize(("rank", "error"), [(3, 0.0), (4, 0.0), (64, 0.0)])
def test_nothing_is_lost_where_the_rank_suffices(tmp_path, rank, error):
    """The relative error is exactly 0."""
    assert restore.relative_error(written(tmp_path / "w", adapter(3)), rank) == error


def test_an_untrained_adapter_loses_nothing(tmp_path):
    """All zero is all zero at every rank."""
    assert restore.relative_error(written(tmp_path / "w", adapter(3, zeros=3)), 1) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_cannot_be_cut(tmp_path, bad):
    """A run that went to NaN can be restored as it is, and is refused at a smaller rank."""
    saved = adapter(3)
    saved.layers["layer0"][1][0, 0] = bad
    path = written(tmp_path / "w", saved)
    assert restore.relative_error(path, 3) == 0.0
    with pytest.raises(Refused, match="not finite"):
        restore.relative_error(path, 2)
    with pytest.raises(Refused, match="not finite"):
        fitted(saved, 2, 16.0)


def test_the_error_is_found_without_torch(tmp_path):
    """Validating a grid of ranks loads no deep-learning library."""
    path = written(tmp_path / "w", adapter(4))
    code = (
        "import sys; from akka_optimize.trainer.engines.decoder.restore import relative_error;"
        "assert relative_error(sys.argv[1], 2) > 0; print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(path)]
    assert subprocess.run(command, cwd=life.TESTS, capture_output=True, text=True, check=True).stdout == "False\n"
