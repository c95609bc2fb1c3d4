"""`datasets get`."""

from __future__ import annotations

from unittest.mock import call

from support.commands_fake import DATASET, carry_out

from akka_optimize.errors import NotFound


def test_one_dataset_is_shown():
    """The reference goes to the service as it was typed, and its dataset is the one record emitted."""
    done = carry_out("datasets get triage")
    assert (done.code, done.emitted, done.calls) == (0, [DATASET], [call.dataset("triage")])


def test_none_of_that_name():
    """It is refused in the service's words."""
    done = carry_out("datasets get nobody", dataset=NotFound("no dataset goes by 'nobody'"))
    assert (done.code, done.out) == (1, "")
    assert "no dataset goes by 'nobody'" in done.err
