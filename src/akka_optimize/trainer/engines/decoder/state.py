"""What a run leaves behind: the adapter, and all that going on exactly where it stopped takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save_file

from akka_optimize.trainer.engines import METADATA

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor

    from akka_optimize.records import Document

FORMAT = 1


def save_adapter(adapter: Mapping[str, Tensor], path: Path, about: Document) -> None:
    """Write the adapter as safetensors with `about` in its metadata; equal adapters give equal bytes."""
    tensors = {name: tensor.detach().contiguous() for name, tensor in adapter.items()}
    save_file(tensors, path, metadata={METADATA: json.dumps(about, sort_keys=True)})


def save_training_state(
    path: Path,
    *,
    adapter: Mapping[str, Tensor],
    optimizer: torch.optim.Optimizer,
    draws: torch.Generator,
    position: Document,
) -> None:
    """Write tensors and plain values only, so that `torch.load(weights_only=True)` reads them.

    `draws` is the generator of dropout; `position` says how far schedule and data stream have come.
    """
    state = {
        "format": FORMAT,
        "adapter": {name: tensor.detach() for name, tensor in adapter.items()},
        "optimizer": optimizer.state_dict(),
        "generators": {"dropout": draws.get_state()},
        "position": position,
    }
    torch.save(state, path)


def load_training_state(
    path: Path, *, adapter: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, draws: torch.Generator
) -> dict[str, Any]:
    """Put a saved state into a session's own adapter, optimizer and generator; the saved position."""
    state: dict[str, Any] = torch.load(path, weights_only=True)
    with torch.no_grad():
        for name, tensor in adapter.items():
            tensor.copy_(state["adapter"][name])
    optimizer.load_state_dict(state["optimizer"])
    draws.set_state(state["generators"]["dropout"])
    position: dict[str, Any] = state["position"]
    return position
