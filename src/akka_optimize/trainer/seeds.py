"""Every number that something random starts from: a function of the run's one seed, a purpose and a process."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akka_optimize.records import Document

GENERATORS = ("torch", "numpy", "python", "adapter", "dropout")
SHARED = ("adapter",)  # every process begins with the same one
NUMPY_LIMIT = 2**32


def derived(seed: int, purpose: str, process: int = 0) -> int:
    """The start of one generator, 0 … 2^63 - 1; below 2^32 for numpy, which takes no more.

    >>> derived(0, "dropout") == derived(0, "dropout", 0) != derived(0, "dropout", 1)
    True
    >>> derived(0, "adapter") == derived(0, "adapter", 1)
    True
    """
    own = process and purpose not in SHARED
    name = f"{seed}/{purpose}/{process}" if own else f"{seed}/{purpose}"
    value = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1
    return value % NUMPY_LIMIT if purpose == "numpy" else value


def document(seed: int, processes: int) -> Document:
    """What `run.json` says of a run's seeds: the configuration's, and what follows from it in each process."""
    return {
        "config": seed,
        "heldOutRows": f"rows sorted by sha256('{seed}/hold-out/ROW')",
        "rowOrder": f"rows of an epoch sorted by sha256('{seed}/epoch/EPOCH/ROW')",
        "processes": [
            {"process": process, **{name: derived(seed, name, process) for name in GENERATORS}}
            for process in range(processes)
        ],
    }
