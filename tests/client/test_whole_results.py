"""Curves and logs over a connection that breaks, on real sockets: the whole of it, once."""

from __future__ import annotations

import struct
from contextlib import closing

import pytest
from support.peers import GRPC, http2, peer, replying

from akka_optimize import errors
from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.client.transport.retrying import RetryingTransport
from akka_optimize.protocol import trainer_pb2 as pb


def chunk(value: float, *steps: int) -> bytes:
    """One chunk of curves."""
    column = pb.MetricsColumn(name="loss", values=[value] * len(steps))
    return pb.MetricsChunk(attempt=1, steps=steps, columns=[column]).SerializeToString()


def breaking(*messages: bytes):
    """Sends these, and breaks the connection in the middle of what follows."""
    framed = b"".join(b"\0" + struct.pack(">I", len(message)) + message for message in messages)
    return http2(GRPC, framed + b"\0\0", then="cut")


def told(handlers, ask, *, timeout=5.0):
    """What `ask` gets of a trainer whose connections are answered by one handler after another."""
    answers = iter(handlers)

    def handle(connection):
        next(answers)(connection)

    with peer(handle) as host:
        transport = RetryingTransport(GrpcTransport(host, tls=False, address=f"http://{host}"))
        with closing(Trainer(transport, timeout=timeout)) as trainer:
            return ask(trainer)


def test_curves_that_break_off_are_fetched_again_as_a_whole():
    """Nothing of the broken answer is left in what the caller gets, though the curves changed in between."""
    answers = [breaking(chunk(9.0, 1, 2)), breaking(chunk(8.0, 1)), replying(chunk(1.0, 1), chunk(1.0, 2, 3))]
    loss = told(answers, lambda trainer: trainer.metrics("a")).columns["loss"]
    assert (loss.steps.tolist(), loss.values.tolist()) == ([1, 2, 3], [1.0, 1.0, 1.0])


def test_a_log_that_breaks_off_is_fetched_again_as_a_whole():
    """No line of it is there twice."""
    lines = [pb.LogChunk(data=data).SerializeToString() for data in (b"one\n", b"two\n")]
    answers = [breaking(lines[0]), replying(*lines)]
    assert told(answers, lambda trainer: b"".join(trainer.run_log("a"))) == b"one\ntwo\n"


def test_curves_that_cannot_be_had_whole_are_an_error():
    """After the last try, what is told is that the connection breaks, and no curve is made of the parts."""
    with pytest.raises(errors.Unreachable, match="was cut before the answer was complete"):
        told([breaking(chunk(9.0, 1, 2))] * 4, lambda trainer: trainer.metrics("a"))
