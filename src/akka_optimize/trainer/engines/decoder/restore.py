"""A saved adapter, made to fit the rank and the alpha of a child; numpy alone.

What is restored is the function: with $s = alpha / rank$, the child's $s' B' A'$ is the snapshot's $s B A$.

* Equal scales: the bits are copied. Another scale: $B' = (s / s') B$.
* A larger rank: further rows of A as a fresh adapter has them, and zero columns of B.
* A smaller rank: the nearest matrix of that rank, by the singular values of $B A$. These are the singular values of
  the small $R_B R_A^T$, where $B = Q_B R_B$ and $A^T = Q_A R_A$.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from akka_optimize.errors import Refused
from akka_optimize.trainer.engines import METADATA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Adapter:
    """A saved adapter: `layers[name]` is A, float32 (rank, in), and B, float32 (out, rank)."""

    rank: int
    alpha: float
    layers: dict[str, tuple[np.ndarray, np.ndarray]]


def read(path: Path) -> Adapter:
    """The adapter that a run saved as its weights. Raises OSError, SafetensorError (not such a file)."""
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        about = json.loads(file.metadata()[METADATA])
        names = [name.removesuffix(".A") for name in file.keys() if name.endswith(".A")]  # noqa: SIM118
        layers = {name: (file.get_tensor(f"{name}.A"), file.get_tensor(f"{name}.B")) for name in names}
    return Adapter(about["rank"], about["alpha"], layers)


def fitted(
    saved: Adapter, fresh: Mapping[str, np.ndarray], *, rank: int, alpha: float
) -> Iterator[tuple[str, np.ndarray]]:
    """The child's tensors by name, float32; `fresh[layer]` is a fresh A, (rank, in), for the rows that are missing.

    Raises Refused for an adapter that has to be truncated and is not finite.
    """
    ratio = (saved.alpha / saved.rank) / (alpha / rank)
    for name, (down, up) in saved.layers.items():
        a, b = (down, up) if rank >= saved.rank else truncated(down, up, rank)
        missing = rank - len(a)
        yield f"{name}.A", np.concatenate([a, fresh[name][len(a) :]]).astype(np.float32)
        yield f"{name}.B", np.pad(b * np.float64(ratio), ((0, 0), (0, missing))).astype(np.float32)


def truncated(down: np.ndarray, up: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Factors, float64 (k, in) and (out, k), of the matrix of rank k <= `rank` nearest to B A.

    $B A = U \Sigma V^T$; A becomes $c V_k^T$ and B becomes $U_k \Sigma_k / c$, where $c$ keeps the rows of A as long as
    they were: a direction that B did not use yet can still be learned.
    """
    left, right, core = _core(down, up)
    u, sizes, v = np.linalg.svd(core, full_matrices=False)
    length = math.sqrt(float(np.mean(np.sum(np.square(down, dtype=np.float64), axis=1)))) or 1.0
    return length * (v[:rank] @ right.T), left @ (u[:, :rank] * (sizes[:rank] / length))


def relative_error(path: Path, rank: int) -> float:
    r"""How much of a saved adapter's function is lost at `rank`: 0 where nothing is, else

    $$ \sqrt{ \sum_{i > rank} \sigma_i^2 / \sum_i \sigma_i^2 } $$

    over the singular values of all layers, the Frobenius norm of what is lost over that of the whole.
    Raises Refused (not finite), OSError, SafetensorError (not a weights file).
    """
    saved = read(path)
    if rank >= saved.rank:
        return 0.0
    lost = whole = 0.0
    for layer in saved.layers.values():
        sizes = np.linalg.svd(_core(*layer)[2], compute_uv=False)  # descending
        whole += float(np.sum(sizes**2))
        lost += float(np.sum(sizes[rank:] ** 2))
    return math.sqrt(lost / whole) if whole else 0.0


def _core(down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Orthonormal bases of B's and A's ranges, (out, m) and (in, n), and B A between them, (m, n); float64."""
    if not (np.isfinite(down).all() and np.isfinite(up).all()):
        raise Refused(
            "the snapshot's adapter holds numbers that are not finite, so its rank cannot be reduced",
            field="snapshot",
            hint="branch from an earlier snapshot",
        )
    left, up_core = np.linalg.qr(up.astype(np.float64))
    right, down_core = np.linalg.qr(down.T.astype(np.float64))
    return left, right, up_core @ down_core.T
