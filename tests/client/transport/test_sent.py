"""Whether a request that failed can have been carried out: the client says "it may have arrived" only where it can."""

from __future__ import annotations

import socket

import pytest

from akka_optimize import errors
from akka_optimize.client.transport import told
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.client.transport.retrying import RetryingTransport
from akka_optimize.client.transport.web import WebTransport
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.protocol.status import error_of, status_of

ADDRESS = "http://trainer:9001"


class Failing:
    """A transport whose calls fail with these errors in turn."""

    def __init__(self, *failures):
        self.failures = [*failures]

    def unary(self, method, request, reply, *, timeout):
        raise self.failures.pop(0)


def outcome(transport):
    """The error that a start ends with."""
    with pytest.raises(errors.AkkaError) as caught:
        transport.unary("StartRun", pb.StartRunRequest(), pb.Run, timeout=20)
    return caught.value


@pytest.mark.parametrize("transport", [GrpcTransport, WebTransport])
def test_a_refused_connection_carries_nothing(transport):
    """Nobody listens, so that nothing was sent."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        host = f"127.0.0.1:{taken.getsockname()[1]}"
    opened = transport(host, tls=False, address=f"http://{host}")
    error = outcome(opened)
    opened.close()
    assert (type(error), error.sent) == (errors.Unreachable, False)


def test_a_connection_that_was_cut_may_have_carried_it():
    """So may a gateway have, and a trainer that was too slow; only a certain "no" counts as one."""
    assert told.cut(ADDRESS).sent
    assert told.gateway(ADDRESS, 502).sent
    assert told.late(ADDRESS).sent
    assert not told.busy(ADDRESS, 503).sent
    assert not told.nobody(ADDRESS, None).sent


def test_a_trainer_that_takes_no_calls_carried_nothing_out():
    """One that starts or stops refuses by itself, which is more than the same status from a stranger."""
    name, message, detail = status_of(errors.Unreachable("the trainer is starting"))
    assert not error_of(name, message, detail).sent
    assert error_of(name, message).sent


@pytest.mark.parametrize(
    ("failures", "sent"),
    [
        pytest.param(["cut", "nobody", "nobody", "nobody"], True, id="the-first-may-have-arrived"),
        pytest.param(["nobody", "nobody", "cut", "nobody"], True, id="a-later-one-may-have"),
        pytest.param(["nobody"] * 4, False, id="none-can-have"),
    ],
)
def test_a_later_try_does_not_undo_an_earlier_one(failures, sent):
    """A request that may have arrived once may have been carried out, whatever became of its repetitions."""
    made = {"cut": lambda: told.cut(ADDRESS), "nobody": lambda: told.nobody(ADDRESS, None)}
    inner = Failing(*(made[name]() for name in failures))
    error = outcome(RetryingTransport(inner, sleep=lambda _seconds: None))
    assert (inner.failures, error.sent) == ([], sent)
