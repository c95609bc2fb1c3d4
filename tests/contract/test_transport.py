"""What every transport promises, whichever one is under it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import nginx
from support.service import served
from support.transports import CLIENTS, TRANSPORTS, to_web

from akka_optimize import errors
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


class PausingServicer(EchoServicer):
    """Sends one event, and the other when it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def WatchRun(self, request, call):
        yield pb.RunEvent(run_id="before")
        yield pb.RunEvent(run_id="after" if self.go_on.wait(10) else "nobody had the first one")


@pytest.fixture(params=[pytest.param(name, marks=nginx.needed if "nginx" in name else ()) for name in TRANSPORTS])
def open_transport(request):
    """Opens the transport under test to a servicer."""
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


@pytest.mark.parametrize("client", CLIENTS)
def test_nobody_there_is_told_by_address_with_the_hint(client):
    """A refused connection names the address and says what to do."""
    told = pytest.raises(errors.Unreachable, match=r"^no trainer answers at http://127\.0\.0\.1:1$")
    with CLIENTS[client]("127.0.0.1:1", hint="start one") as transport, told as caught:
        transport.unary("GetInfo", pb.GetInfoRequest(), pb.Info, timeout=5)
    assert caught.value.hint == "start one"


def test_a_message_comes_as_soon_as_it_is_sent(open_transport):
    """A stream that pauses has delivered all that it sent before."""
    servicer = PausingServicer()
    with open_transport(servicer) as transport:
        stream = transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=20)
        first = next(stream)
        servicer.go_on.set()
        assert [first.run_id, *[event.run_id for event in stream]] == ["before", "after"]


def test_a_stream_without_messages_is_empty(open_transport):
    """Nothing to send is no error."""
    with open_transport(EchoServicer()) as transport:
        stream = transport.stream("GetMetrics", pb.GetMetricsRequest(), pb.MetricsChunk, timeout=5)
        assert list(stream) == []


def test_an_error_before_the_first_message_is_raised(open_transport):
    """A stream that fails at once raises the service's error, with its reason."""
    with open_transport(EchoServicer(errors.NotFound("no run", hint="look"))) as transport:
        stream = transport.stream("GetMetrics", pb.GetMetricsRequest(), pb.MetricsChunk, timeout=5)
        with pytest.raises(errors.NotFound, match="no run") as caught:
            next(stream)
    assert caught.value.hint == "look"


@pytest.mark.parametrize("said", ["50 % of\nit", "größer – 長い 🙂", "a: b\r\nc", "", " ends with blanks  ", "%41"])
def test_every_character_of_an_error_arrives(open_transport, said):
    """Line ends, percent signs and any script are told as they were said."""
    sent = errors.Invalid(f"said: {said}.", field="config.é", hint=f"{said}.")
    with open_transport(EchoServicer(sent)) as transport, pytest.raises(errors.Invalid) as caught:
        transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=5)
    assert (caught.value.message, caught.value.field, caught.value.hint) == (sent.message, sent.field, sent.hint)


@pytest.mark.parametrize("length", range(1, 5))
def test_a_hint_of_any_length_arrives(open_transport, length):
    """The detail's encoding has no length at which it fails."""
    servicer = EchoServicer(errors.Refused("no", hint="x" * length))
    with open_transport(servicer) as transport, pytest.raises(errors.Refused) as caught:
        transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=5)
    assert caught.value.hint == "x" * length


def test_three_mebibytes_pass_in_both_directions(open_transport):
    """A message may be as long as the service takes one."""
    long = "x" * (3 << 20)
    with open_transport(EchoServicer()) as transport:
        assert transport.unary("GetRun", pb.GetRunRequest(run_id=long), pb.Run, timeout=20).run_id == long


def test_a_call_that_takes_too_long_ends_at_its_deadline(open_transport):
    """A reply that does not come is a TimedOut, when the time is over and not much later."""
    servicer = PausingServicer()
    with open_transport(servicer) as transport:
        started = time.monotonic()
        stream = transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=0.3)
        next(stream)
        threading.Timer(0.6, servicer.go_on.set).start()  # the embedded trainer has only the caller's own thread
        with pytest.raises(errors.TimedOut):
            next(stream)
        assert 0.2 < time.monotonic() - started < 3


def test_a_stream_left_early_leaves_the_transport_usable(open_transport):
    """Who has seen enough of a stream lets go of it, and goes on with the next call."""
    with open_transport(EchoServicer()) as transport:
        stream = transport.stream("WatchRun", pb.WatchRunRequest(run_id="a"), pb.RunEvent, timeout=5)
        assert next(stream).run_id == "a"
        stream.close()
        assert transport.unary("GetRun", pb.GetRunRequest(run_id="b"), pb.Run, timeout=5).run_id == "b"


def test_an_error_leaves_the_transport_usable(open_transport):
    """One refused call does not spoil the next."""
    servicer = EchoServicer(errors.Refused("not now"))
    with open_transport(servicer) as transport:
        with pytest.raises(errors.Refused):
            transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=5)
        servicer.raises = None
        assert transport.unary("GetRun", pb.GetRunRequest(run_id="b"), pb.Run, timeout=5).run_id == "b"


def test_many_threads_share_a_transport(open_transport):
    """Calls at once, of both kinds, get each its own answer."""

    def call(number):
        run = transport.unary("GetRun", pb.GetRunRequest(run_id=str(number)), pb.Run, timeout=20)
        stream = transport.stream("GetMetrics", pb.GetMetricsRequest(last_steps=number), pb.MetricsChunk, timeout=20)
        return run.run_id, len(list(stream))

    with open_transport(EchoServicer()) as transport, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(call, range(40))) == [(str(number), number) for number in range(40)]


def test_what_a_newer_trainer_adds_is_ignored(open_transport):
    """A field that this client does not know does not disturb the ones it does."""
    unknown = bytes([0xFA, 0x3F, 3]) + b"new"  # field 1023, three bytes
    newer = pb.Run.FromString(pb.Run(run_id="a").SerializeToString() + unknown)
    servicer = EchoServicer()
    servicer.GetRun = lambda _request, _call: newer
    with open_transport(servicer) as transport:
        assert transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=5).run_id == "a"


@nginx.needed
def test_a_proxy_as_most_people_write_it_holds_nothing_back(tmp_path):
    """Nobody has to know that nginx collects answers: the service tells it not to."""
    servicer = PausingServicer()
    with served(servicer) as host, nginx.nginx(tmp_path, nginx.PLAIN.format(host=host)) as proxy, to_web(proxy) as web:
        stream = web.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=20)
        first = next(stream)
        servicer.go_on.set()
        assert [first.run_id, *[event.run_id for event in stream]] == ["before", "after"]
