"""Errors cross the wire as themselves."""

from __future__ import annotations

import grpc
import pytest

from akka_optimize import errors
from akka_optimize.protocol import status
from akka_optimize.protocol import trainer_pb2 as pb


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


@pytest.mark.parametrize("detail", [b"\xff", b"\x0a\x05ab", b"\x0a\x02\xff\xfe", b"x" * 100_000])
def test_a_detail_that_is_none_is_left_out(detail):
    """What a proxy wrote in its place does not hide the error itself."""
    back = status.error_of("NOT_FOUND", "no such run", detail)
    assert (type(back), back.message, back.field, back.hint) == (errors.NotFound, "no such run", None, None)


def test_texts_are_cut():
    """Nobody sends a terminal a megabyte of error."""
    detail = pb.ErrorDetail(hint="h" * 1_000_000).SerializeToString()
    back = status.error_of("INTERNAL", "m" * 1_000_000, detail)
    assert (len(back.message), len(back.hint)) == (status.MOST_TEXT, status.MOST_TEXT)
    assert back.message.endswith("m…")


def test_half_a_character_can_be_told():
    """A path with bytes that are no text, or half of a surrogate pair, is an error's text like any other."""
    sent = errors.Refused("caf\udce9: not there", field="\ud800", hint="look at caf\udce9")
    back = status.error_of(*status.status_of(sent))
    assert (back.message, back.field, back.hint) == (r"caf\udce9: not there", r"\ud800", r"look at caf\udce9")
    assert status.error_of("NOT_FOUND", "\udcff").message == r"\udcff"
