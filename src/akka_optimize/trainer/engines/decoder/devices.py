"""What a session computes on, and how each of its processes is set up to compute the same bits every time.

Accelerators are taken where there is one for every process; else all processes share the CPU.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import numpy as np
import torch

from akka_optimize.trainer import seeds

if TYPE_CHECKING:
    from collections.abc import Sequence

CPU = torch.device("cpu")
ACCELERATOR = "cuda"
WORKSPACE = (
    "CUBLAS_WORKSPACE_CONFIG",
    ":4096:8",
)  # without it a product of matrices may sum in another order each time


def chosen(count: int) -> tuple[torch.device, ...]:
    """The device of each of `count` processes."""
    if torch.cuda.is_available() and torch.cuda.device_count() >= count:
        return tuple(torch.device(ACCELERATOR, index) for index in range(count))
    return (CPU,) * count


def backend(devices: Sequence[torch.device]) -> str | None:
    """What adds up gradients between processes on these devices; None for one process."""
    if len(devices) == 1:
        return None
    return "nccl" if devices[0].type == ACCELERATOR else "gloo"


def deterministic(threads: int, device: torch.device = CPU) -> None:
    """Make this process compute the same bits every time, on `device` and with so many threads."""
    if device.type == ACCELERATOR:
        os.environ.setdefault(*WORKSPACE)
        torch.cuda.set_device(device)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]  # costs time; nothing reads it


def seeded(seed: int, process: int) -> None:
    """Start torch's, numpy's and Python's own generators as the run's record says.

    Nothing here draws from them, and so no training state keeps them: whatever a library draws unasked begins alike.
    """
    torch.manual_seed(seeds.derived(seed, "torch", process))
    np.random.seed(seeds.derived(seed, "numpy", process))
    random.seed(seeds.derived(seed, "python", process))


def generator(seed: int, purpose: str, process: int = 0, device: torch.device = CPU) -> torch.Generator:
    """A stream of random numbers of its own for each purpose and process of one seed."""
    return torch.Generator(device).manual_seed(seeds.derived(seed, purpose, process))


def resident_bytes(device: torch.device = CPU) -> int:
    """Memory that this process has in use: of its accelerator where it has one, else of the machine."""
    if device.type == ACCELERATOR:
        return torch.cuda.memory_allocated(device)
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # no /proc: the most it ever had, in KiB but on macOS
        import resource
        import sys

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
