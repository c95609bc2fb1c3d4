"""What a run leaves behind: the adapter, and all that going on exactly where it stopped takes.

Torch's, numpy's and Python's own generators are not part of it, since nothing draws from them.
"""

from __future__ import annotations

import json
import sys
import weakref
from pickle import UnpicklingError
from typing import TYPE_CHECKING, BinaryIO
from zipfile import BadZipFile, is_zipfile

import torch
from safetensors.torch import save_file

from akka_optimize.errors import Refused
from akka_optimize.trainer.engines import METADATA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from akka_optimize.records import Document

FORMAT = 1
DAMAGE = (  # what reading may raise on bytes that nobody wrote on purpose
    *(RuntimeError, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, AssertionError),
    *(OverflowError, BadZipFile),
)


class Held:
    """A session after one update, copied apart from it: writing it takes no part of the session."""

    def __init__(self, state: Document, about: Document) -> None:
        self._state = state
        self._about = about

    def save_weights(self, path: Path) -> None:
        """Write the adapter as safetensors; its metadata says what it belongs on. Equal adapters give equal bytes."""
        save_file(self._state["adapter"], path, metadata={METADATA: json.dumps(self._about, sort_keys=True)})

    def save_training_state(self, path: Path) -> None:
        """Write tensors and plain values only, so that `torch.load(weights_only=True)` reads them."""
        with path.open("wb") as file:  # given a path, torch writes its name into the file
            torch.save(self._state, file)


class Copies:
    """Makes copies of a session's tensors, into the memory of the copy before once nobody has that any more.

    Memory that was never touched costs several times what the copying does.
    """

    def __init__(self, adapter: Mapping[str, Tensor], optimizer: torch.optim.Optimizer) -> None:
        self._adapter = adapter
        self._optimizer = optimizer
        self._memory: dict[tuple[str, str], Tensor] = {}
        self._last: weakref.ref[Held] | None = None

    def hold(self, *, generators: Mapping[str, Tensor], position: Document, about: Document) -> Held:
        """Adapter and optimizer as they are now. `generators` and `position`, which nobody changes, as they are.

        `position` says how far schedule and data stream have come, `about` what the adapter belongs on.
        """
        if self._last is not None and self._last() is not None:
            self._memory = {}
        saved = self._optimizer.state_dict()
        # Words are written once and then referred to, so equal states give equal bytes only if equal words are one.
        moments = {
            at: {sys.intern(key): self._copy((str(at), key), tensor) for key, tensor in entry.items()}
            for at, entry in saved["state"].items()
        }
        state = {
            "format": FORMAT,
            "adapter": {name: self._copy(("adapter", name), tensor) for name, tensor in self._adapter.items()},
            "optimizer": {"state": moments, "param_groups": saved["param_groups"]},
            "generators": dict(generators),
            "position": position,
        }
        held = Held(state, about)
        self._last = weakref.ref(held)
        return held

    def _copy(self, place: tuple[str, str], tensor: Tensor) -> Tensor:
        tensor = tensor.detach()
        if place not in self._memory:
            self._memory[place] = torch.empty_like(tensor, device="cpu", memory_format=torch.contiguous_format)
        return self._memory[place].copy_(tensor)


def generator_name(process: int) -> str:
    """What the generator of dropout of one process goes by."""
    return f"dropout/{process}" if process else "dropout"


def load(path: Path, adapter: Mapping[str, Tensor]) -> Document:
    """What `save_training_state` wrote, for an adapter of these shapes.

    Raises Refused, naming the file, for one that is damaged, would run code, or is of another format or another
    adapter; OSError.
    """
    with path.open("rb") as file:
        try:
            return _read(file, path, adapter)
        except UnpicklingError as error:
            raise Refused(f"{path} is no training state: it holds more than tensors and plain values") from error
        except DAMAGE as error:
            raise Refused(f"{path} is no training state, or it is damaged") from error


def restore(state: Document, *, adapter: Mapping[str, Tensor], optimizer: torch.optim.Optimizer) -> None:
    """Put a loaded state into a session's own adapter and optimizer; the optimizer's settings stay the session's."""
    with torch.no_grad():
        for name, tensor in adapter.items():
            tensor.copy_(state["adapter"][name])
    own = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state["optimizer"]["state"], "param_groups": own})


def _read(file: BinaryIO, path: Path, adapter: Mapping[str, Tensor]) -> Document:
    if not is_zipfile(file):  # torch's older format: never written here
        raise ValueError("not as torch writes it")
    file.seek(0)
    state: Document = torch.load(file, map_location="cpu", weights_only=True)
    found = state["format"]
    _expect(type(found) is int)
    if found != FORMAT:
        raise Refused(f"{path} is a training state of format {found}, and this trainer reads format {FORMAT}")
    _check(state)
    saved = {name: tensor.shape for name, tensor in state["adapter"].items()}
    if saved != {name: tensor.shape for name, tensor in adapter.items()}:
        raise Refused(f"{path} is the training state of another adapter")
    _check_moments(state["optimizer"]["state"], [state["adapter"][name] for name in adapter])
    return state


def _check(state: Document) -> None:
    """Raises one of DAMAGE where a part is missing or is not what it has to be."""
    position = state["position"]
    _expect(all(type(position[key]) is int and position[key] >= 0 for key in ("step", "steps", "rowsTaken")))
    _expect(all(tensor.dtype == torch.float32 for tensor in state["adapter"].values()))
    _expect(all(tensor.dtype == torch.uint8 for tensor in state["generators"].values()))
    _expect(type(state["optimizer"]["param_groups"][0]["lr"]) is float)


def _check_moments(moments: Mapping[int, Mapping[str, Tensor]], adapter: Sequence[Tensor]) -> None:
    """`moments` are by place in the adapter; there are none before the first update."""
    _expect(list(moments) in ([], list(range(len(adapter)))))
    for at, entry in moments.items():
        shapes = {"step": torch.Size(), "exp_avg": adapter[at].shape, "exp_avg_sq": adapter[at].shape}
        _expect({name: tensor.shape for name, tensor in entry.items()} == shapes)
        _expect(all(tensor.dtype == torch.float32 for tensor in entry.values()))


def _expect(holds: bool) -> None:
    if not holds:
        raise ValueError("not as a session writes it")
