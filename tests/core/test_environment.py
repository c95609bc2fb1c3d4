"""In what two environments differ, and what of it can move digits."""

from __future__ import annotations

import pytest

from akka_optimize.core import environment
from akka_optimize.records import EnvironmentDifference


@pytest.mark.parametrize(
    "path",
    [
        *("packages.torch", "packages.numpy", "libraries.mkl", "instructions", "machine"),
        *("device", "devices", "accelerators", "processes", "threads", "deterministic"),
    ],
)
def test_what_decides_the_order_and_kind_of_additions_moves_digits(path):
    """Libraries that compute, the processor's kind, and over how much an update is spread."""
    assert environment.moves_digits(path)


@pytest.mark.parametrize(
    "path",
    ["python", "implementation", "system", "cpus", "packages.akka-optimize", "packages.safetensors", "packages"],
)
def test_what_only_reads_and_writes_moves_none(path):
    """Nor does what happens to begin with the same letters."""
    assert not environment.moves_digits(path)
    assert not environment.moves_digits("devicetree")


def test_each_difference_says_whether_it_moves_digits():
    """Sorted by path; a side that does not say is None."""
    run = {"packages": {"torch": "2.13"}, "python": "3.11", "threads": 1}
    baseline = {"packages": {"torch": "2.12"}, "python": "3.12", "threads": 1, "cpus": 2}
    assert environment.differences(run, baseline) == (
        EnvironmentDifference("cpus", None, 2, moves_digits=False),
        EnvironmentDifference("packages.torch", "2.13", "2.12", moves_digits=True),
        EnvironmentDifference("python", "3.11", "3.12", moves_digits=False),
    )
    assert environment.differences(run, run) == ()
