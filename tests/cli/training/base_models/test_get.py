"""`training base-models get`."""

from __future__ import annotations

from unittest.mock import call

from support.commands_fake import MODEL, carry_out


def test_one_model_is_shown():
    """By whatever reference was typed, a slash included."""
    done = carry_out("training base-models get akka/m")
    assert (done.code, done.emitted, done.calls) == (0, [MODEL], [call.base_model("akka/m")])
