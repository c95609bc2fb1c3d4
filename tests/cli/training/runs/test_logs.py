"""`training runs logs`."""

from __future__ import annotations

from unittest.mock import call

import pytest
from support.commands_fake import carry_out

from akka_optimize.errors import NotFound


def test_the_bytes_are_printed_as_they_are_stored():
    """One chunk after the other, untouched: also where a character is cut in two."""
    assert carry_out("training runs logs first", run_log=[b"st\xc3", b"\xa9p\n\x1b[1m"]).out == "stép\n\x1b[1m"


def test_the_log_is_asked_for_once():
    """The reference goes to the service as it was typed; a log is no record."""
    done = carry_out("training runs logs first")
    assert (done.code, done.out, done.emitted) == (0, "step 1\nstep 2\n", [])
    assert done.calls == [call.run_log("first")]


def test_a_run_without_a_log_prints_nothing():
    """A run that no worker has begun is no failure."""
    done = carry_out("training runs logs first", run_log=[])
    assert (done.code, done.out) == (0, "")


def test_an_unknown_run():
    """It is refused in the service's words."""
    assert carry_out("training runs logs x", run_log=NotFound("no run goes by 'x'")).code == 1


@pytest.mark.parametrize("words", ["-o json", "--json runId", "--jq ."])
def test_a_log_is_no_document(words):
    """What shapes a record is refused before any request."""
    done = carry_out(f"training runs logs first {words}")
    assert (done.code, done.out, done.calls) == (2, "", [])
