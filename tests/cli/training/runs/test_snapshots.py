"""`training runs snapshots`."""

from __future__ import annotations

from unittest.mock import call

import pytest
from support.commands_fake import SNAPSHOT, carry_out

from akka_optimize.records import Page


def test_the_newest_fifty_by_default():
    """One request, one page emitted."""
    done = carry_out("training runs snapshots first")
    assert (done.code, done.emitted) == (0, [Page((SNAPSHOT,), 0, 1)])
    assert done.calls == [call.snapshots("first", limit=50, offset=0)]


def test_limit_and_offset_go_to_the_service():
    """Both are passed on as typed."""
    done = carry_out("training runs snapshots first --limit 1 --offset 3")
    assert done.calls == [call.snapshots("first", limit=1, offset=3)]


@pytest.mark.parametrize("words", ["--limit 0", "--limit 101", "--offset -1"])
def test_a_page_has_bounds(words):
    """Numbers outside them cost no request."""
    done = carry_out(f"training runs snapshots first {words}")
    assert (done.code, done.calls) == (2, [])
