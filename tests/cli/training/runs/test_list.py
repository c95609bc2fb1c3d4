"""`training runs list`."""

from __future__ import annotations

from unittest.mock import call

import pytest
from support.commands_fake import RUN, carry_out

from akka_optimize.records import Page


def test_the_newest_hundred_by_default():
    """One request, one page emitted."""
    done = carry_out("training runs list")
    assert (done.code, done.emitted) == (0, [Page((RUN,), 0, 1)])
    assert done.calls == [call.runs(phase=None, workload=None, limit=100, offset=0)]


def test_the_filters_go_to_the_service():
    """Phase, workload, limit and offset are passed on as typed."""
    done = carry_out("training runs list --phase open --workload triage --limit 5 --offset 10")
    assert done.calls == [call.runs(phase="open", workload="triage", limit=5, offset=10)]


@pytest.mark.parametrize("words", ["--limit 0", "--limit 1001", "--limit -1", "--offset -1", "--limit 1e2"])
def test_a_page_has_bounds(words):
    """Numbers outside them cost no request."""
    done = carry_out(f"training runs list {words}")
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert words.split()[0] in done.err


def test_an_empty_list_is_a_success():
    """In text and in JSON."""
    nothing = Page((), 0, 0)
    assert carry_out("training runs list", runs=nothing).code == 0
    assert carry_out("training runs list -o json-compact", runs=nothing).out == '{"runs":[],"offset":0,"total":0}\n'
