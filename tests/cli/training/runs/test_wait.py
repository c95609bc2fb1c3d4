"""`training runs wait`."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import call

import pytest
from support.commands_fake import EVENT, RUN, carry_out

from akka_optimize.actions.training.runs import wait as action
from akka_optimize.errors import TimedOut, Unreachable
from akka_optimize.records import Pause

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


def test_json_is_lines_of_events_and_then_the_record():
    """With -o json every event stands on its own line, and the record follows, indented as everywhere."""
    out = carry_out("training runs wait first -o json", watch_run=EVENTS).out
    *events, record = out.split("\n", len(EVENTS))
    assert [json.loads(event)["terminal"] for event in events] == [False, False, True]
    assert json.loads(record)["runId"] == RUN.run_id
    assert record.startswith("{\n  ")


@pytest.mark.parametrize("words", ["--json runId,phase", "--json runId -o json-compact", "-o json --jq .runId"])
def test_a_part_of_the_record_has_no_events_before_it(words):
    """Fields and programs are about the record: stdout holds one document, and progress goes to stderr."""
    done = carry_out(f"training runs wait first {words}", watch_run=EVENTS)
    assert RUN.run_id in json.dumps(json.loads(done.out if "--jq" not in words else f'"{done.out.strip()}"'))
    assert len(done.err.splitlines()) == len(EVENTS)


@pytest.fixture
def pauses(monkeypatch):
    """The pauses between tries, which take no time."""
    slept = []
    monkeypatch.setattr(action.time, "sleep", slept.append)
    return slept


class Dropping:
    """A stream that drops after each event, and once with nothing."""

    def __init__(self):
        self.streams = [[EVENTS[0]], [], [EVENTS[0], EVENTS[1]], [EVENTS[2]]]

    def __call__(self, ref, *, timeout):
        yield from self.streams.pop(0)
        raise Unreachable("no trainer answers at http://here")


@pytest.mark.parametrize("quiet", [False, True])
def test_a_dropped_stream_is_opened_again_and_said(pauses, quiet):
    """On stderr, and not under -q; stdout has every event once, and the record."""
    done = carry_out(f"training runs wait first -o json-compact {'-q' if quiet else ''}", watch_run=Dropping())
    *events, run = map(json.loads, done.out.splitlines())
    assert [event["step"] for event in events] == [0, 20, 40]
    assert (done.code, run["runId"], len(pauses)) == (0, RUN.run_id, 3)
    said = done.err.splitlines()
    assert len(said) == (0 if quiet else 3)
    assert all("The trainer was lost" in line for line in said)


def test_a_trainer_that_stays_away_is_exit_3(pauses):
    """After eight tries the command ends, says that the run goes on, and how to follow it again; even under -q."""

    def lost(ref, *, timeout):
        raise Unreachable("no trainer answers at http://here")
        yield

    done = carry_out("training runs wait first -q", watch_run=lost)
    assert (done.code, done.out, len(pauses)) == (3, "", 8)
    assert f"run {RUN.run_id} goes on" in done.err
    assert f"training runs wait {RUN.run_id}" in done.err


@pytest.mark.parametrize(("words", "seconds"), [("", None), ("--timeout 0", None), ("--timeout 1m30s", 90.0)])
def test_its_own_timeout_is_the_longest_wait(words, seconds):
    """0, as by default, is no bound; the inherited option of that name bounds each request instead."""
    done = carry_out(f"--timeout 5s training runs wait first {words}")
    given = done.calls[1].kwargs["timeout"]
    assert given == (seconds if seconds is None else pytest.approx(seconds, abs=5))


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
    assert f"run {RUN.run_id} goes on" in done.err


def test_an_interrupt_is_exit_130():
    """Ctrl-C ends the waiting at once, without another request."""
    done = carry_out("training runs wait first", watch_run=interrupted)
    assert (done.code, done.out, done.emitted) == (130, "", [])
    assert f"run {RUN.run_id} goes on; to follow it again" in done.err
    assert done.calls == [call.run("first"), call.watch_run(RUN.run_id, timeout=None)]


@pytest.mark.parametrize(("phase", "code"), [("COMPLETED", 0), ("FAILED", 5), ("CANCELLED", 5)])
def test_exit_status_tells_how_it_ended(phase, code):
    """5 unless the run completed; the record is emitted in any case."""
    ended = replace(RUN, phase=phase)
    done = carry_out("training runs wait first --exit-status", run=ended)
    assert (done.code, done.emitted) == (code, [ended])
    assert carry_out("training runs wait first", run=ended).code == 0


PAUSED = replace(EVENT, phase="PAUSED", terminal=False)


def paused(checkpoint):
    """A run that stands still."""
    why = None if checkpoint else "no room on the disk"
    return replace(RUN, phase="PAUSED", pause=Pause(checkpoint, "2026-01-01T00:00:00Z", 20, why, True))


@pytest.mark.parametrize("words", ["", "--exit-status"])
def test_a_pause_of_the_trainers_own_is_exit_1(words):
    """The run is shown as it stands, and stderr says why and what to do; --exit-status changes nothing about that."""
    done = carry_out(f"training runs wait first {words}", watch_run=[PAUSED, EVENT], run=paused(None))
    assert (done.code, done.emitted) == (1, [paused(None)])
    assert "no room on the disk" in done.err
    assert f"training runs resume {RUN.run_id}" in done.err


def test_a_pause_that_somebody_asked_for_is_waited_for():
    """It is said how to go on with it, and the wait ends with the run."""
    runs = [RUN, paused("save"), RUN]
    done = carry_out("training runs wait first", watch_run=[PAUSED, EVENT], run=lambda _ref: runs.pop(0))
    assert (done.code, done.emitted) == (0, [RUN])
    assert f"goes on waiting; to go on with it: akka-optimize training runs resume {RUN.run_id}" in done.err
