"""`training base-models list`."""

from __future__ import annotations

from unittest.mock import call

import pytest
from support.commands_fake import MODEL, carry_out

from akka_optimize.records import Page


@pytest.mark.parametrize(("flag", "everything"), [("", False), ("--all", True)])
def test_models_are_one_page(flag, everything):
    """Those that are ready, or with --all every one that is known."""
    done = carry_out(f"training base-models list {flag}")
    assert (done.code, done.emitted) == (0, [Page((MODEL,), 0, 1)])
    assert done.calls == [call.base_models(everything=everything)]
