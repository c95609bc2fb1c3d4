"""`training runs wait`."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import call

import pytest
from support.commands_fake import EVENT, RUN, carry_out

from akka_optimize.errors import TimedOut

EVENTS = [replace(EVENT, phase="TRAINING", step=step, terminal=False, loss=None) for step in (0, 20)] + [EVENT]


def interrupted(ref, *, timeout):
    """A stream that the user cuts short."""
    yield EVENTS[0]
    raise KeyboardInterrupt


def timed_out(ref, *, timeout):
    """A stream that ends at the deadline."""
    yield EVENTS[0]
    raise TimedOut("the run did not end within the time allowed")


def test_it_follows_to_the_end_and_emits_the_run():
    """The run is found, watched by its id, and fetched once more when it has ended."""
    done = carry_out("training runs wait first", watch_run=EVENTS)
    assert (done.code, done.emitted) == (0, [RUN])
    assert done.calls == [call.run("first"), call.watch_run(RUN.run_id, timeout=None), call.run(RUN.run_id)]


def test_events_go_to_stderr_as_text():
    """A line for each; stdout holds the record alone."""
    done = carry_out("training runs wait first --jq .phase", watch_run=EVENTS)
    assert done.out == "COMPLETED\n"
    assert done.err.splitlines() == [
        "7d496e82c3a15f04  Training",
        "7d496e82c3a15f04  Training  step 20/40",
        "7d496e82c3a15f04  Completed  step 40/40  loss 1.2500",
    ]


def test_events_are_lines_of_json_where_json_was_asked_for():
    """Each event is a line on stdout, the last one terminal; the run's record follows."""
    done = carry_out("training runs wait first -o json-compact", watch_run=EVENTS)
    *events, run = map(json.loads, done.out.splitlines())
    assert [event["terminal"] for event in events] == [False, False, True]
    assert (run["runId"], done.err) == (RUN.run_id, "")


@pytest.mark.parametrize(("words", "seconds"), [("", None), ("--timeout 0", None), ("--timeout 1m30s", 90.0)])
def test_its_own_timeout_is_the_longest_wait(words, seconds):
    """0, as by default, is no bound; the inherited option of that name bounds each request instead."""
    done = carry_out(f"--timeout 5s training runs wait first {words}")
    assert done.calls[1] == call.watch_run(RUN.run_id, timeout=seconds)


@pytest.mark.parametrize("duration", ["-1s", "1d", "10", "", "NaN"])
def test_a_duration_that_is_none(duration):
    """It is wrong usage, found before any request."""
    done = carry_out(["training", "runs", "wait", "first", "--timeout", duration])
    assert (done.code, done.calls) == (2, [])
    assert "--timeout" in done.err


def test_time_that_runs_out_is_exit_3():
    """The run goes on, and no record is emitted."""
    done = carry_out("training runs wait first --timeout 1s", watch_run=timed_out)
    assert (done.code, done.out, done.emitted) == (3, "", [])


def test_an_interrupt_is_exit_130():
    """Ctrl-C ends the waiting at once, without another request."""
    done = carry_out("training runs wait first", watch_run=interrupted)
    assert (done.code, done.out, done.emitted) == (130, "", [])
    assert done.calls == [call.run("first"), call.watch_run(RUN.run_id, timeout=None)]


@pytest.mark.parametrize(("phase", "code"), [("COMPLETED", 0), ("FAILED", 5), ("CANCELLED", 5)])
def test_exit_status_tells_how_it_ended(phase, code):
    """5 unless the run completed; the record is emitted in any case."""
    ended = replace(RUN, phase=phase)
    done = carry_out("training runs wait first --exit-status", run=ended)
    assert (done.code, done.emitted) == (code, [ended])
    assert carry_out("training runs wait first", run=ended).code == 0
