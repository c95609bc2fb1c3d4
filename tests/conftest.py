"""What holds for every test."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shared machine", deadline=None)  # being slow is no failure
settings.load_profile("shared machine")

# A shell starts what it puts in the background with Ctrl-C ignored, and every program that a test starts would inherit
# that; with a handler of our own they start as they would at a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Whoever runs the tests may have a configuration, and keeps their own cache. Tests that are ended clear away what they
# made as well, and the next ones what tests left that were killed.
PREFIX, DAY_SECONDS = "akka-home-", 86_400.0
for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
    with suppress(OSError):
        if left.stat().st_mtime < time.time() - DAY_SECONDS:
            shutil.rmtree(left)
os.environ["HOME"] = tempfile.mkdtemp(prefix=PREFIX)
atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)
signal.signal(signal.SIGTERM, lambda number, _frame: pytest.exit("told to end", 128 + number))
