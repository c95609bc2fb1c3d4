"""What every transport promises, whichever one is under it."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from support.service import served

from akka_optimize import errors
from akka_optimize.client.transport.embedded import EmbeddedTransport
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.protocol import status
from akka_optimize.protocol import trainer_pb2 as pb


class EchoServicer:
    """Answers with what it was asked; `raises` is raised by every method."""

    def __init__(self, raises: errors.AkkaError | None = None) -> None:
        self.raises = raises
        self.remaining: list[float | None] = []

    def GetRun(self, request, call):
        self.remaining.append(call.time_remaining())
        if self.raises:
            raise self.raises
        return pb.Run(run_id=request.run_id)

    def GetMetrics(self, request, call):
        for attempt in range(1, request.last_steps + 1):
            yield pb.MetricsChunk(attempt=attempt, steps=[attempt])
        if self.raises:
            raise self.raises

    def WatchRun(self, request, call):
        while call.is_active() and ((remaining := call.time_remaining()) is None or remaining > -1):
            yield pb.RunEvent(run_id=request.run_id)

    def close(self):
        pass


@contextmanager
def embedded(servicer):
    yield EmbeddedTransport(servicer)


@contextmanager
def over_grpc(servicer):
    with served(servicer) as host:
        transport = GrpcTransport(host, tls=False, address=f"http://{host}")
        try:
            yield transport
        finally:
            transport.close()


TRANSPORTS = {"embedded": embedded, "grpc": over_grpc}


@pytest.fixture(params=TRANSPORTS)
def open_transport(request):
    return TRANSPORTS[request.param]


def test_a_request_gets_its_reply(open_transport):
    """One request, one reply."""
    with open_transport(EchoServicer()) as transport:
        assert transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=5).run_id == "a"


def test_a_stream_comes_whole_and_in_order(open_transport):
    """Every message of a stream arrives, in the order it was sent."""
    with open_transport(EchoServicer()) as transport:
        stream = transport.stream("GetMetrics", pb.GetMetricsRequest(last_steps=500), pb.MetricsChunk, timeout=10)
        assert [chunk.attempt for chunk in stream] == list(range(1, 501))


@pytest.mark.parametrize("kind", status.TO_STATUS, ids=lambda kind: kind.__name__)
def test_errors_arrive_with_reason_field_and_hint(open_transport, kind):
    """An error raised in the service is raised again in the client; an unreachable service is told by address."""
    sent = kind("no such thing", field="config.seed", hint="do this")
    with open_transport(EchoServicer(sent)) as transport, pytest.raises(kind) as caught:
        transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=5)
    if kind not in {errors.Unreachable, errors.TimedOut}:
        assert (caught.value.message, caught.value.field, caught.value.hint) == (sent.message, sent.field, sent.hint)


def test_an_error_in_mid_stream_follows_what_was_sent(open_transport):
    """What came before the error is delivered; then the error is raised."""
    with open_transport(EchoServicer(errors.NotFound("gone"))) as transport:
        stream = transport.stream("GetMetrics", pb.GetMetricsRequest(last_steps=2), pb.MetricsChunk, timeout=5)
        assert [next(stream).attempt, next(stream).attempt] == [1, 2]
        with pytest.raises(errors.NotFound, match="gone"):
            next(stream)


def test_the_service_sees_the_deadline(open_transport):
    """The service is told how long the caller will wait."""
    servicer = EchoServicer()
    with open_transport(servicer) as transport:
        transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=7)
    assert 0 < servicer.remaining[0] < 8


def test_an_endless_stream_ends_at_its_deadline(open_transport):
    """A stream that outlives the time allowed is a TimedOut."""
    with open_transport(EchoServicer()) as transport, pytest.raises(errors.TimedOut):
        for _ in transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=0.2):
            pass


def test_a_method_that_the_service_lacks_is_unsupported(open_transport):
    """An older service is told apart from a broken one."""
    with open_transport(EchoServicer()) as transport, pytest.raises(errors.Unsupported):
        transport.unary("GetInfo", pb.GetInfoRequest(), pb.Info, timeout=5)


def test_nobody_there_is_told_by_address_with_the_hint():
    """A refused connection names the address and says what to do."""
    transport = GrpcTransport("127.0.0.1:1", tls=False, address="http://127.0.0.1:1", hint="start one")
    with pytest.raises(errors.Unreachable, match=r"no trainer answers at http://127\.0\.0\.1:1") as caught:
        transport.unary("GetInfo", pb.GetInfoRequest(), pb.Info, timeout=5)
    transport.close()
    assert caught.value.hint == "start one"
