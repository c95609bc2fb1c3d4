"""What a run's numbers may depend on beside its plan: versions and the machine. An engine adds its own part.

Nothing that differs between two runs on an unchanged machine belongs here (no time, no process id): `compare` shows
every difference between two environments.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akka_optimize.records import Document

PACKAGES = ("akka-optimize", "numpy", "safetensors", "torch")


def known() -> Document:
    """The part that can be told without loading an engine; a package that is not installed is null."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def build() -> str:
    """What the trainer runs on, in one line."""
    return (
        f"Python {platform.python_version()}, torch {_version('torch') or 'missing'}, "
        f"{platform.system()} {platform.machine()}"
    )


def joined(known: Document, engine: Document) -> Document:
    """Both documents; where both say something, the engine's word holds, inside nested documents too."""
    both = dict(known)
    for key, value in engine.items():
        mine = both.get(key)
        both[key] = joined(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return both


@cache
def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
