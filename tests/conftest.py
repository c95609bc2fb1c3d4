"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared machine", deadline=None)  # being slow is no failure
settings.load_profile("shared machine")
