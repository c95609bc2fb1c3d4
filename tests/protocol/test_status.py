"""Errors cross the wire as themselves."""

from __future__ import annotations

import grpc
import pytest

from akka_optimize import errors
from akka_optimize.protocol import status


@pytest.mark.parametrize("kind", status.TO_STATUS, ids=lambda kind: kind.__name__)
def test_every_error_comes_back_as_itself(kind):
    """What the service sends is what the client raises: class, message, field and hint."""
    sent = kind("what was wrong", field="config.seed", hint="what to do")
    back = status.error_of(*status.status_of(sent))
    assert (type(back), back.message, back.field, back.hint) == (kind, sent.message, sent.field, sent.hint)


@pytest.mark.parametrize("name", status.FROM_STATUS)
def test_every_status_named_is_one_of_grpcs(name):
    """The tables use grpc's own names, though they never load it."""
    assert name in grpc.StatusCode.__members__


def test_every_error_that_a_service_may_raise_has_a_status():
    """Only the errors of the command line itself have none."""
    local = {errors.AkkaError, errors.WrongUsage, errors.AnswerIsNo}
    everything = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    assert everything - local == set(status.TO_STATUS)


def test_an_error_of_no_known_status_is_a_fault_of_the_service():
    """A status that no table knows is told as an internal one, with its message."""
    back = status.error_of("ABORTED", "gave up")
    assert (type(back), back.message, back.field, back.hint) == (errors.Internal, "gave up", None, None)
