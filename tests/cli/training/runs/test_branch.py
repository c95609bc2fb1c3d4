"""`training runs branch`."""

from __future__ import annotations

from unittest.mock import ANY, call

import pytest
from support.commands_fake import CHILD, EVENT, FAN, ORIGIN, Answers, carry_out

from akka_optimize.errors import Invalid, TimedOut, Unreachable
from akka_optimize.records import FanRequest

WORDS = "training runs branch first --snapshot 3f2a --steps 40"
OVERRIDES = "hyperparams:\n  lora: {rank: 16}\n"


def asked(point, *, restore="weights", token=ANY, origin=ORIGIN):
    """The one request that a branch makes."""
    return FanRequest("first", "3f2a", 40, restore, token, (point,), origin=origin)


def test_force_submits_one_point():
    """The override document becomes one point; the child is looked up by its id and emitted."""
    done = carry_out(f"{WORDS} --overrides - --force", stdin=OVERRIDES, run=CHILD)
    point = {"hyperparams.lora.rank": 16}
    assert (done.code, done.emitted) == (0, [CHILD])
    assert done.calls == [call.submit_branches(asked(point)), call.run(CHILD.run_id)]


def test_the_token_is_told_before_anything_is_sent():
    """A token of ours stands on stderr even when the trainer refuses; it is the one that was sent."""
    done = carry_out(f"{WORDS} --force", submit_branches=Invalid("no"))
    assert done.code == 1
    assert done.calls[0].args[0].submission_id in done.err


@pytest.mark.parametrize(
    ("error", "code"), [(Unreachable("gone"), 3), (TimedOut("late"), 3), (KeyboardInterrupt(), 130)], ids=type
)
def test_a_lost_reply_is_told_with_the_token(error, code):
    """Even when quiet: how to ask again, so that no second child is started."""
    done = carry_out(f"{WORDS} --force -q --submission-id mine", submit_branches=error)
    assert (done.code, done.out) == (code, "")
    assert "the same command with --submission-id mine starts no child twice" in done.err


def test_a_check_that_is_lost_submitted_nothing():
    """Nothing is said of a token."""
    done = carry_out(f"{WORDS} --submission-id mine", validate_branches=Unreachable("gone", hint="start it"))
    assert (done.code, done.err) == (3, "Error: gone\n  hint: start it\n")


def test_a_token_of_the_users_own_is_sent_as_it_is():
    """Nothing is told of it, and without overrides the point changes nothing."""
    done = carry_out(f"{WORDS} --force --submission-id mine -q", run=CHILD)
    assert done.calls[0] == call.submit_branches(asked({}, token="mine"))
    assert done.err == ""


@pytest.mark.parametrize("token", ["", "two words", "a\x07b", "x" * 10_000])
def test_a_token_that_is_none_is_refused(token):
    """Empty, spaced, steering or endless: wrong usage before any request."""
    done = carry_out([*WORDS.split(), "--force", "--submission-id", token])
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert "--submission-id" in done.err


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), (None, 1)])
def test_a_person_is_asked_after_the_child_was_checked(answer, code):
    """The child is validated, the notes are told, and only a yes submits it."""
    console = Answers(answer)
    done = carry_out(WORDS, console=console, run=CHILD)
    assert [made[0] for made in done.calls] == ["validate_branches", "submit_branches", "run"][: 1 if code else 3]
    assert (done.code, console.asked) == (code, ["Start a child run of 40 updates? [y/N] "])
    assert "Note: a note" in done.err


def test_a_dry_run_submits_nothing():
    """It emits what the child resolves to."""
    done = carry_out(f"{WORDS} --dry-run --restore trainingState")
    assert (done.code, done.emitted) == (0, [FAN])
    assert done.calls == [call.validate_branches(asked({}, restore="trainingState", origin=None))]


def test_wait_follows_the_child():
    """With --wait the child's own progress is followed."""
    done = carry_out(f"{WORDS} --force --wait", run=CHILD, watch_run=[EVENT])
    assert call.watch_run(CHILD.run_id, timeout=None) in done.calls
    assert done.emitted[-1] == CHILD


@pytest.mark.parametrize(
    "words",
    ["--dry-run --wait", "--exit-status --force", "--overrides -", "--steps 0 --force", "--restore both --force"],
)
def test_options_that_contradict_each_other(words):
    """Wrong usage, found before any request."""
    done = carry_out(f"{WORDS} {words}", stdin=OVERRIDES)
    assert (done.code, done.out, done.calls) == (2, "", [])


@pytest.mark.parametrize("overrides", ["- a\n", "3\n"])
def test_overrides_are_a_mapping(overrides):
    """A list or a number changes no field."""
    done = carry_out(f"{WORDS} --overrides - --force", stdin=overrides)
    assert (done.code, done.calls) == (1, [])
    assert "mapping" in done.err
