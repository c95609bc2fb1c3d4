"""`training runs repeat`."""

from __future__ import annotations

import json
from dataclasses import replace
from unittest.mock import ANY, call

import pytest
from support.commands_fake import CHILD, EVENT, ORIGIN, RUN, Answers, carry_out

from akka_optimize.errors import Refused, TimedOut, Unreachable
from akka_optimize.records import Repeats

WORDS = "training runs repeat first"


def sent(ref="first", *, times=1, token=ANY):
    """The one request that a repeat makes."""
    return call.repeat_run(ref, times=times, submission_id=token, origin=ORIGIN)


def test_one_repeat_is_one_run():
    """So that --jq .runId is its ID; what the trainer notes goes to stderr."""
    done = carry_out(f"{WORDS} --force --jq .runId")
    assert (done.code, done.out, done.emitted) == (0, f"{CHILD.run_id}\n", [CHILD])
    assert done.calls == [sent()]
    assert "Note: a note" in done.err


def test_several_repeats_are_a_list():
    """In JSON and in text."""
    done = carry_out(f"{WORDS} --times 2 --force -o json-compact --json runId")
    assert json.loads(done.out) == {"runs": [{"runId": CHILD.run_id}] * 2}
    assert done.calls == [sent(times=2)]
    assert carry_out(f"{WORDS} --times 2 --force").out.startswith("RUN ")


@pytest.mark.parametrize("words", ["--times 0", "--times 51", "--times -1", "--times 1.5", "--exit-status"])
def test_options_that_mean_nothing(words):
    """Wrong usage, found before any request."""
    done = carry_out(f"{WORDS} --force {words}")
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert words.split()[0] in done.err


@pytest.mark.parametrize("token", ["", "two words", "x" * 200])
def test_a_token_that_is_none_is_refused(token):
    """Before any request."""
    done = carry_out([*WORDS.split(), "--force", "--submission-id", token])
    assert (done.code, done.calls) == (2, [])


def test_the_token_is_told_before_anything_is_sent():
    """A token of ours stands on stderr even when the trainer refuses; it is the one that was sent."""
    done = carry_out(f"{WORDS} --force", repeat_run=Refused("no"))
    assert done.code == 1
    assert done.calls[0].kwargs["submission_id"] in done.err


def test_a_token_of_the_users_own_is_sent_as_it_is():
    """Nothing is told of it."""
    done = carry_out(f"{WORDS} --force --submission-id mine", repeat_run=Repeats((RUN,), ()))
    assert (done.calls, done.err) == ([sent(token="mine")], "")


@pytest.mark.parametrize(
    ("error", "code"), [(Unreachable("gone"), 3), (TimedOut("late"), 3), (KeyboardInterrupt(), 130)], ids=type
)
def test_a_lost_reply_is_told_with_the_token(error, code):
    """Even when quiet: how to ask again, so that nothing is started twice."""
    done = carry_out(f"{WORDS} --force -q --submission-id mine", repeat_run=error)
    assert (done.code, done.out) == (code, "")
    assert "the same command with --submission-id mine starts no run twice" in done.err


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), (None, 1)])
def test_a_person_is_asked(answer, code):
    """With what would be started; only a yes starts it, of the run that was shown."""
    console = Answers(answer)
    done = carry_out(f"{WORDS} --times 3", console=console)
    assert (done.code, console.asked) == (code, ["Start the 40 updates of plan e14ea5ff5f88 3 times more? [y/N] "])
    assert done.calls == [call.run("first"), *([] if code else [sent(RUN.run_id, times=3)])]


def test_where_nobody_can_be_asked_nothing_starts():
    """It is wrong usage, and the error names --force."""
    done = carry_out(WORDS)
    assert (done.code, done.calls) == (2, [call.run("first")])
    assert "--force" in done.err


def test_wait_follows_the_run():
    """Its events go to stderr, and the run as it ended is emitted."""
    done = carry_out(f"{WORDS} --force --wait", run=CHILD, watch_run=[EVENT])
    assert call.watch_run(CHILD.run_id, timeout=None) in done.calls
    assert done.emitted[-1] == CHILD


@pytest.mark.parametrize(("phase", "code"), [("COMPLETED", 0), ("FAILED", 5)])
def test_wait_follows_all_of_them(phase, code):
    """One after the other; under --exit-status one that does not complete is a no, after all were shown."""
    runs = {"a" * 16: replace(RUN, run_id="a" * 16), "b" * 16: replace(RUN, run_id="b" * 16, phase=phase)}
    done = carry_out(
        f"{WORDS} --times 2 --force --wait --exit-status",
        repeat_run=Repeats(tuple(runs.values()), ()),
        run=runs.__getitem__,
        watch_run=lambda ref, **_: iter([replace(EVENT, run_id=ref)]),
    )
    assert (done.code, done.emitted[-1]) == (code, tuple(runs.values()))


def test_ctrl_c_leaves_the_runs_alone():
    """It says how to follow the one that was followed."""
    done = carry_out(f"{WORDS} --times 2 --force --wait", watch_run=KeyboardInterrupt())
    assert done.code == 130
    assert f"wait {CHILD.run_id}" in done.err
