"""What users type and parse changes on purpose only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_surface_is_the_one_written_down():
    """Commands, arguments, options, defaults and JSON fields are those of `surface.txt`; edit it to change them."""
    live = subprocess.run(
        [sys.executable, "scripts/surface.py"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert live == (ROOT / "tests" / "surface.txt").read_text()
