"""How the processes of one session add up what they computed.

Losses and all that is small go through gloo over loopback, gradients through the backend of their device. Every process
gets the same bits, since each sum is made once and handed round.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import torch
import torch.distributed as dist
from torch.distributed import ProcessGroupGloo, distributed_c10d

from akka_optimize.trainer.engines.decoder import devices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

LOOPBACK = "127.0.0.1"
MEETING = timedelta(seconds=60)  # for processes that have said that they are ready
PATIENCE = timedelta(minutes=10)  # with a process that is alive; one that ended is noticed at once


class Broken(Exception):
    """A process of the group has ended, or did not answer in time."""


class Group(Protocol):
    """The processes that share each update."""

    rank: int  # this one's number, from 0

    def add(self, loss: float, gradients: Sequence[Tensor]) -> float:
        """Sum gradients, in place, and losses over all processes; the summed loss. Raises Broken."""
        ...

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Each process's `tensor`, on the CPU and of one shape everywhere, in order. Raises Broken."""
        ...

    def close(self) -> None:
        """Let go of the others."""
        ...


class Alone:
    """One process."""

    rank = 0

    def add(self, loss: float, gradients: Sequence[Tensor]) -> float:  # noqa: ARG002
        """What it is given is the sum."""
        return loss

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """Its own."""
        return [tensor]

    def close(self) -> None:
        """There is nobody to let go of."""


class Linked:
    """One of several processes, which find each other through a file that only their user can read."""

    def __init__(self, meeting: Path, rank: int, size: int, device: torch.device = devices.CPU) -> None:
        """Wait for the others. Raises Broken when one does not come."""
        self.rank = rank
        self._size = size
        with _noticed():
            store = dist.FileStore(str(meeting), size)  # type: ignore[attr-defined]
            store.set_timeout(MEETING)
            self._talk: Any = _gloo(store, rank, size)
            self._gradients: Any = self._talk
            if device.type == devices.ACCELERATOR:
                self._gradients = _nccl(distributed_c10d.PrefixStore("gradients", store), rank, size)

    def add(self, loss: float, gradients: Sequence[Tensor]) -> float:
        """Float64 for the loss; gradients as one vector, so that there is one message."""
        total = torch.tensor([loss], dtype=torch.float64)
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        with _noticed():
            self._talk.allreduce([total]).wait()
            self._gradients.allreduce([flat]).wait()
        for gradient, part in zip(gradients, torch.split(flat, [g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))
        return total.item()

    def gather(self, tensor: Tensor) -> list[Tensor]:
        """By gloo."""
        found = [torch.empty_like(tensor) for _ in range(self._size)]
        with _noticed():
            self._talk.allgather([found], [tensor]).wait()
        return found

    def close(self) -> None:
        """Close the connections; the others notice."""
        self._talk = self._gradients = None


def _gloo(store: distributed_c10d.Store, rank: int, size: int) -> Any:
    """A group of its own, beside torch's default one, that listens on loopback alone."""
    options: Any = ProcessGroupGloo._Options()  # type: ignore[attr-defined]
    options._devices = [ProcessGroupGloo.create_device(hostname=LOOPBACK)]
    options._timeout = PATIENCE
    return ProcessGroupGloo(store, rank, size, options)


def _nccl(store: distributed_c10d.Store, rank: int, size: int) -> Any:
    """A group for tensors on accelerators; only torch's builds for them have it."""
    kind: Any = distributed_c10d.ProcessGroupNCCL
    options = kind.Options()
    options._timeout = PATIENCE
    return kind(store, rank, size, options)


@contextmanager
def _noticed() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise Broken(str(error)) from error
