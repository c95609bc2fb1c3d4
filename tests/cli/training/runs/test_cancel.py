"""`training runs cancel`."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import call

import pytest
from support.commands_fake import RUN, Answers, carry_out

from akka_optimize.errors import Refused

LOOKED_AT = [call.run("first")]
CANCELLED = [*LOOKED_AT, call.cancel_run(RUN.run_id)]


def test_force_asks_nothing():
    """The run is looked up, cancelled by its id, and emitted as it is afterwards; one in hand is told to be so."""
    done = carry_out("training runs cancel first --force")
    assert (done.code, done.emitted, done.calls) == (0, [RUN], CANCELLED)
    assert done.err == "Asked to stop: it is cancelled once its current step is done.\n"


def test_a_queued_run_is_cancelled_at_once():
    """Nothing is left to be told of it."""
    done = carry_out("training runs cancel first --force", cancel_run=replace(RUN, phase="CANCELLED"))
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("YES", 0), ("n", 1), ("", 1), ("maybe", 1), (None, 1)])
def test_a_person_is_asked(answer, code):
    """Only a clear yes cancels; the question names the run and how far it is."""
    console = Answers(answer)
    done = carry_out("training runs cancel first", console=console)
    assert (done.code, done.calls) == (code, LOOKED_AT if code else CANCELLED)
    assert console.asked == ["Cancel run 7d496e82c3a15f04 at step 40 of 40? [y/N] "]
    assert ("nothing was done" in done.err) == bool(code)


@pytest.mark.parametrize(
    ("flag", "environ", "reason"),
    [
        ("", {}, "no terminal to ask on"),
        ("--disable-prompt", {}, "Prompts are disabled"),
        ("", {"AKKA_DISABLE_PROMPTS": "true"}, "Prompts are disabled"),
    ],
)
def test_where_nobody_can_be_asked_nothing_is_done(flag, environ, reason):
    """It is wrong usage, and the error names --force."""
    done = carry_out(f"training runs cancel first {flag}", environ=environ)
    assert (done.code, done.out, done.calls) == (2, "", LOOKED_AT)
    assert reason in done.err
    assert "--force" in done.err


def test_disabled_prompts_hold_on_a_terminal_too():
    """The person is there, and is not asked."""
    console = Answers("y")
    done = carry_out("training runs cancel first --disable-prompt", console=console)
    assert (done.code, console.asked) == (2, [])


def test_a_run_that_has_ended_is_refused():
    """The service's refusal is the command's."""
    done = carry_out("training runs cancel first --force", cancel_run=Refused("run 7d49 is COMPLETED already"))
    assert (done.code, done.out) == (1, "")
    assert "COMPLETED already" in done.err


def test_a_submission_is_cancelled_as_one():
    """Every run of it that has not ended is asked to stop, after one question."""
    console = Answers("y")
    done = carry_out("training runs cancel --submission token", console=console)
    assert (done.code, done.calls) == (0, [call.cancel_submission("token")])
    assert console.asked == ["Cancel every run of submission token that has not ended? [y/N] "]


@pytest.mark.parametrize("words", ["", "first --submission token"])
def test_one_run_or_one_submission_is_named(words):
    """Neither, or both, is wrong usage, found before any request."""
    done = carry_out(f"training runs cancel {words} --force")
    assert (done.code, done.calls) == (2, [])
