"""What holds for every test."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile

from hypothesis import settings

settings.register_profile("shared machine", deadline=None)  # being slow is no failure
settings.load_profile("shared machine")

# A shell starts what it puts in the background with Ctrl-C ignored, and every program that a test starts would inherit
# that; with a handler of our own they start as they would at a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Whoever runs the tests may have a configuration, and keeps their own cache.
os.environ["HOME"] = tempfile.mkdtemp(prefix="akka-home-")
atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)
