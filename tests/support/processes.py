"""Real second processes, for what only they can show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PATIENCE_SECONDS = 60.0
TESTS = Path(__file__).parents[1]
PATH = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Python running `code`, with pipes to its standard streams and `support` importable."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": PATH, "OMP_NUM_THREADS": "1"},
    )


def output(process: subprocess.Popen[str], given: str | None = None) -> str:
    """What the process printed, once it has ended well."""
    out, complaints = process.communicate(given, timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, complaints
    return out


def run(code: str, *arguments: object) -> str:
    """What `code` prints in a process of its own."""
    return output(start(code, *arguments))
