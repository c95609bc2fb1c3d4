"""What two environments differ in, and which of their differences can move the digits of a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.core import plans
from akka_optimize.records import EnvironmentDifference

if TYPE_CHECKING:
    from akka_optimize.records import Document

# What decides in which order numbers are added, and by which instructions. Versions of Python, of this package and of
# what only reads and writes files decide none of that; what the plan says of the arithmetic is in the plan.
MOVING = (
    *("packages.torch", "packages.numpy", "libraries", "instructions", "machine"),
    *("device", "devices", "accelerators", "processes", "threads", "deterministic"),
)


def moves_digits(path: str) -> bool:
    """Can runs of one plan part in the last digits where their environments differ at the dotted `path`?

    >>> moves_digits("packages.torch"), moves_digits("python")
    (True, False)
    """
    return any(path == moving or path.startswith(f"{moving}.") for moving in MOVING)


def differences(run: Document, baseline: Document) -> tuple[EnvironmentDifference, ...]:
    """Every leaf in which two recorded environments differ, sorted by path."""
    return tuple(
        EnvironmentDifference(each.path, each.run, each.baseline, moves_digits(each.path))
        for each in plans.differences(run, baseline)
    )
