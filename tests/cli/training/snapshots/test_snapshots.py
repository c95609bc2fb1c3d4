"""`training snapshots get`, `pin`, `unpin`."""

from __future__ import annotations

from unittest.mock import call

import pytest
from support.commands_fake import SNAPSHOT, carry_out


def test_get_shows_one_snapshot():
    """One request, one record."""
    done = carry_out("training snapshots get ssss")
    assert (done.code, done.emitted, done.calls) == (0, [SNAPSHOT], [call.snapshot("ssss")])


@pytest.mark.parametrize("verb", ["pin", "unpin"])
@pytest.mark.parametrize(
    ("words", "kinds"),
    [("", []), ("--kind weights", ["weights"]), ("--kind trainingState", ["trainingState"])],
    ids=["every-kind", "weights", "training-state"],
)
def test_a_pin_is_of_every_kind_unless_one_is_named(verb, words, kinds):
    """Without --kind the service decides which kinds there are."""
    done = carry_out(f"training snapshots {verb} ssss {words}")
    assert (done.code, done.calls) == (0, [getattr(call, f"{verb}_snapshot")("ssss", kinds=kinds)])


@pytest.mark.parametrize("verb", ["pin", "unpin"])
def test_an_unknown_kind_is_wrong_usage(verb):
    """Found before any request."""
    done = carry_out(f"training snapshots {verb} ssss --kind both")
    assert (done.code, done.calls) == (2, [])
