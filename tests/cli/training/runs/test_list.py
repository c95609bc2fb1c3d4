"""`training runs list`."""

from __future__ import annotations

from unittest.mock import call

import pytest
from support.commands_fake import BASELINE, CHILD, RUN, carry_out

from akka_optimize.records import ChangedRun, Page


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


def test_changed_from_holds_each_run_against_one():
    """With the other filters; the records emitted say in what each differs."""
    found = Page((CHILD, RUN), 10, 12)
    words = "--changed-from first --phase open --workload triage --limit 5 --offset 10"
    done = carry_out(f"training runs list {words}", runs=found)
    assert done.calls == [call.run("first"), call.runs(phase="open", workload="triage", limit=5, offset=10)]
    told = (ChangedRun(CHILD, (), several=False, itself=False), ChangedRun(RUN, (), several=False, itself=True))
    assert (done.code, done.emitted) == (0, [Page(told, 10, 12)])


@pytest.mark.parametrize(
    ("words", "heading"),
    [("", "WORKLOAD"), ("--workload triage", "VALIDATION LOSS"), ("--changed-from second", "DIFFERENCES")],
)
def test_the_table_answers_the_question(words, heading):
    """One workload's runs show how they did, and those beside a run in what they differ."""
    done = carry_out(f"training runs list {words}", runs=Page((BASELINE, RUN), 0, 2))
    assert heading in done.out.splitlines()[0]


def test_a_page_of_changed_runs_says_which_part_it_is():
    """As any list does, in text and in JSON."""
    found = Page((RUN,), 10, 12)
    assert "11 to 11 of 12 runs." in carry_out("training runs list --changed-from first", runs=found).out
    done = carry_out("training runs list --changed-from first --json differences -o json-compact", runs=found)
    assert done.out == '{"runs":[{"differences":[]}],"offset":10,"total":12}\n'
