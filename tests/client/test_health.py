"""The standard health check, without its package."""

from __future__ import annotations

from typing import Any

import pytest
from grpc_health.v1 import health_pb2

from akka_optimize import errors
from akka_optimize.client.health import SERVICE, Health


class Wire:
    """Answers with these bytes, or raises."""

    def __init__(self, answer: bytes | errors.AkkaError) -> None:
        self.answer = answer
        self.closed = False

    def unary(self, method: str, request: Any, reply: Any, *, timeout: float) -> Any:
        assert (method, request.SerializeToString(), timeout) == ("Check", b"", 2.0)
        if isinstance(self.answer, Exception):
            raise self.answer
        return reply.FromString(self.answer)

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("name", health_pb2.HealthCheckResponse.ServingStatus.keys())
def test_each_state_has_its_words(name):
    """What the standard's own message says is read as it is meant."""
    number = health_pb2.HealthCheckResponse.ServingStatus.Value(name)
    answer = health_pb2.HealthCheckResponse(status=number).SerializeToString()
    assert Health(Wire(answer)).check(timeout=2.0) == name.replace("_", " ").lower()


def test_the_service_and_the_request_are_the_standards():
    """Its name, and the bytes of a request for the whole server."""
    assert health_pb2.DESCRIPTOR.services_by_name["Health"].full_name == SERVICE
    assert health_pb2.HealthCheckRequest().SerializeToString() == b""


def test_a_state_to_come_is_told_by_its_number():
    """Nothing breaks on a newer service."""
    assert Health(Wire(b"\x08\x09")).check(timeout=2.0) == "state 9"


def test_a_service_without_the_check_answers_all_the_same():
    """It is there, and tells nothing."""
    assert Health(Wire(errors.Unsupported("x"))).check(timeout=2.0) == "it tells nothing of its health"


def test_nobody_there_is_told_without_a_word_of_trainers():
    """The transports' own sentences are about trainers."""
    wire = Wire(errors.Unreachable("no trainer answers at http://x"))
    health = Health(wire)
    with pytest.raises(errors.Unreachable, match=r"^x?$|.*") as caught:
        health.check(timeout=2.0)
    assert caught.value.message == "nothing answers at http://x"
    health.close()
    assert wire.closed
