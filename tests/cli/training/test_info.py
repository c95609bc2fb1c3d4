"""`training info`."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import call

from support.commands_fake import INFO, carry_out

from akka_optimize.errors import Unreachable


def test_the_trainer_says_what_it_is():
    """One request, one record."""
    done = carry_out("training info")
    assert (done.code, done.emitted, done.calls) == (0, [INFO], [call.info()])


def test_a_start_that_is_not_complete_is_a_failure():
    """The record is shown all the same, and the exit code is 1, so that a loop can wait."""
    half = replace(INFO, startup="migrating")
    done = carry_out("training info --jq .startup", info=half)
    assert (done.code, done.emitted, done.out) == (1, [half], "migrating\n")
    assert "not complete: migrating" in done.err


def test_nobody_there():
    """A trainer that does not answer is exit 3, with an empty stdout."""
    done = carry_out("training info", info=Unreachable("no trainer answers at x"))
    assert (done.code, done.out) == (3, "")
