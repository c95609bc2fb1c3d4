"""What is sent again, how often, and for how long."""

from __future__ import annotations

import ast
import inspect
import time
from contextlib import ExitStack

import pytest
from support.peers import EMPTY, GRPC, OK, http2, peer, unused

from akka_optimize import errors
from akka_optimize.client.transport import calls, certificates, grpc, proxies, reasons, retrying
from akka_optimize.client.transport.calls import trying
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.client.transport.retrying import TRIES, RetryingTransport, repeatable
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb

METHODS = [method.name for method in pb.DESCRIPTOR.services_by_name[SERVICE.rpartition(".")[2]].methods]
ONCE = {
    *("CreateWorkload", "CancelRun", "DeleteRun", "UnpinSnapshot", "WatchRun"),
    *("PauseRun", "ResumeRun", "AnnotateRun", "ExportRun"),
}
DOWN = errors.Unreachable("nobody there")


class Clock:
    """A clock that only moves when somebody sleeps, or when a call takes its time."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Scripted:
    """A transport that does, try by try, what its script says: raise an error, or answer.

    An entry for a stream is a list, whose errors are raised where they stand. `took` is how long each try takes.
    """

    def __init__(self, clock: Clock, *script: object, took: float = 0.0, observe: object = None) -> None:
        self.clock, self.script, self.took, self.observe = clock, list(script), took, observe
        self.tries: list[tuple[str, float | None]] = []
        self.ids: list[str] = []
        self.closed = False

    def _next(self, method: str, timeout: float | None) -> object:
        self.tries.append((method, timeout))
        self.clock.now += self.took
        return self.script.pop(0)

    def unary(self, method, request, reply, *, timeout):
        """The next entry of the script."""
        with trying(method, self.observe) as request_id:
            self.ids.append(request_id)
            entry = self._next(method, timeout)
            if isinstance(entry, BaseException):
                raise entry
            return entry

    def stream(self, method, request, reply, *, timeout):
        """The next entry of the script, message by message."""
        with trying(method, self.observe) as request_id:
            self.ids.append(request_id)
            for entry in self._next(method, timeout):
                if isinstance(entry, BaseException):
                    raise entry
                yield entry

    def close(self):
        """Remember it."""
        self.closed = True


def setup(*script, **options):
    """A clock, the scripted transport, and the one under test above it."""
    clock = Clock()
    inner = Scripted(clock, *script, **options)
    return clock, inner, RetryingTransport(inner, sleep=clock.sleep, clock=clock)


def unary(transport, method="GetRun", timeout=10.0):
    """One call."""
    return transport.unary(method, pb.GetRunRequest(), pb.Run, timeout=timeout)


def stream(transport, method="GetMetrics", timeout=10.0):
    """One stream, whole."""
    return list(transport.stream(method, pb.GetMetricsRequest(), pb.MetricsChunk, timeout=timeout))


@pytest.mark.parametrize("method", METHODS)
def test_each_method_of_the_protocol_is_one_or_the_other(method):
    """What changes something without a token is sent once; everything else may be sent again."""
    assert repeatable(method) is (method not in ONCE)


@pytest.mark.parametrize("method", sorted(ONCE - {"WatchRun"}))
def test_what_may_not_be_repeated_is_sent_once(method):
    """Nobody knows whether the lost call arrived, so the user decides."""
    _, inner, transport = setup(DOWN)
    with pytest.raises(errors.Unreachable):
        unary(transport, method)
    assert len(inner.tries) == 1


def test_the_watch_is_opened_once():
    """`wait` has a patience of its own."""
    _, inner, transport = setup([DOWN])
    with pytest.raises(errors.Unreachable):
        stream(transport, "WatchRun", None)
    assert inner.tries == [("WatchRun", None)]


def test_a_trainer_that_comes_back_answers():
    """Three tries fail, the fourth one's answer is the answer."""
    _, inner, transport = setup(DOWN, DOWN, DOWN, "answer")
    assert unary(transport) == "answer"
    assert len(inner.tries) == TRIES == 4


def test_the_last_error_is_told_after_four_tries():
    """Then it is given up, with what the trainer or the network said last."""
    last = errors.Unreachable("the trainer is starting")
    _, inner, transport = setup(DOWN, DOWN, DOWN, last)
    with pytest.raises(errors.Unreachable) as caught:
        unary(transport)
    assert caught.value is last
    assert len(inner.tries) == 4


@pytest.mark.parametrize("_", range(20))
def test_pauses_grow_and_are_short(_):
    """From 0.12 s to 0.15, 0.3 and 0.6 s: somebody who is not there is told within about a second."""
    clock, _, transport = setup(DOWN, DOWN, DOWN, DOWN)
    with pytest.raises(errors.Unreachable):
        unary(transport)
    assert all(0.12 <= pause <= most for pause, most in zip(clock.slept, (0.15, 0.3, 0.6), strict=True))


def test_pauses_are_drawn():
    """Many clients that lost one trainer do not come back in step."""
    drawn = set()
    for _ in range(10):
        clock, _, transport = setup(DOWN, "answer")
        unary(transport)
        drawn.add(clock.slept[0])
    assert len(drawn) > 5


def test_all_tries_share_the_calls_time():
    """Each try has what the ones before it and their pauses left."""
    clock, inner, transport = setup(DOWN, DOWN, "answer", took=2.0)
    unary(transport, timeout=10)
    first, second, third = (timeout for _, timeout in inner.tries)
    assert first == 10
    assert second == pytest.approx(8 - clock.slept[0])
    assert third == pytest.approx(6 - sum(clock.slept))


def test_no_try_begins_after_the_deadline():
    """When the time left is shorter than the pause, the last error is told instead."""
    clock, inner, transport = setup(DOWN, DOWN, took=9.9999999)
    with pytest.raises(errors.Unreachable):
        unary(transport, timeout=10)
    assert len(inner.tries) == 1
    assert clock.now - 1000 <= 10


@pytest.mark.parametrize(
    "error",
    [
        errors.Exhausted("the disk is full"),
        errors.TimedOut("too late"),
        errors.Unauthenticated("who are you"),
        errors.Internal("a fault"),
        errors.NotFound("no such run"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_answer_is_an_answer(error):
    """Only a trainer that was not reached is asked again; a limit of its own, or no time left, is final."""
    _, inner, transport = setup(error)
    with pytest.raises(type(error)) as caught:
        unary(transport)
    assert (caught.value, len(inner.tries)) == (error, 1)


def test_an_answer_after_a_failure_is_an_answer():
    """A trainer that is reached again and refuses is not asked a third time."""
    refused = errors.Exhausted("the disk is full")
    _, inner, transport = setup(DOWN, refused, "answer")
    with pytest.raises(errors.Exhausted):
        unary(transport)
    assert len(inner.tries) == 2


def test_a_whole_result_is_never_a_mixture():
    """Curves that break off are fetched again from the beginning, and handed on only when they are whole."""
    _, inner, transport = setup(["old 1", "old 2", DOWN], ["new 1", DOWN], ["1", "2", "3"])
    assert stream(transport) == ["1", "2", "3"]
    assert len(inner.tries) == 3


@pytest.mark.parametrize("method", ["GetMetrics", "GetRunLog"])
def test_nothing_of_a_broken_result_is_handed_on(method):
    """A result that cannot be had whole is an error, and no part of it was there before."""
    _, _, transport = setup(*[["part", DOWN]] * 4)
    messages = transport.stream(method, pb.GetMetricsRequest(), pb.MetricsChunk, timeout=10)
    with pytest.raises(errors.Unreachable):
        next(messages)


def test_a_whole_result_shares_the_calls_time():
    """Fetching again has what is left, not as much again."""
    clock, inner, transport = setup(["a", DOWN], ["b"], took=3.0)
    assert stream(transport, timeout=10) == ["b"]
    assert inner.tries[1][1] == pytest.approx(7 - clock.slept[0])


def test_another_stream_is_not_restarted_once_it_has_begun(monkeypatch):
    """What came is kept, then the error is raised; before the first message it is tried again."""
    monkeypatch.setattr(retrying, "WHOLE", frozenset())
    _, inner, transport = setup([DOWN], ["a", DOWN])
    messages = transport.stream("GetMetrics", pb.GetMetricsRequest(), pb.MetricsChunk, timeout=10)
    assert next(messages) == "a"
    with pytest.raises(errors.Unreachable):
        next(messages)
    assert len(inner.tries) == 2


def test_an_empty_stream_is_empty():
    """Nothing is a result as well."""
    _, _, transport = setup([], [])
    assert stream(transport) == []
    assert stream(transport, "WatchRun") == []


def test_a_call_is_told_once_with_its_tries():
    """Every try goes by one request id, and `observe` hears of the call when it is over."""
    told = []
    _, inner, transport = setup(DOWN, DOWN, "answer", observe=lambda *what: told.append(what))
    unary(transport)
    assert len(set(inner.ids)) == 1
    [(method, request_id, seconds, tries, outcome)] = told
    assert (method, request_id, tries, outcome) == ("GetRun", inner.ids[0], 3, "ok")
    assert seconds >= 0


def test_a_stream_is_told_once_with_its_tries():
    """A whole result is one call, however often it was fetched; one that its reader leaves is told as left."""
    told = []
    _, _, transport = setup(["a", DOWN], ["b"], ["c", "d"], observe=lambda *what: told.append(what))
    stream(transport)
    watch = transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=None)
    next(watch)
    watch.close()
    assert [(what[0], what[3], what[4]) for what in told] == [("GetMetrics", 2, "ok"), ("WatchRun", 1, "left")]


def test_two_calls_at_once_are_two():
    """A call that is made while a stream is open is not taken for a part of it."""
    told = []
    script = (["a", "b"], "answer")
    _, inner, transport = setup(*script, observe=lambda *what: told.append(what))
    watch = transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=None)
    next(watch)
    unary(transport)
    assert [*watch] == ["b"]
    assert [(what[0], what[3]) for what in told] == [("GetRun", 1), ("WatchRun", 1)]
    assert len(set(inner.ids)) == 2


def test_closing_closes_what_is_below():
    """One close for both."""
    _, inner, transport = setup()
    transport.close()
    assert inner.closed


def test_nobody_there_is_told_within_about_a_second():
    """On a real socket, with all the tries and pauses."""
    host = unused()
    transport = RetryingTransport(GrpcTransport(host, tls=False, address=f"http://{host}"))
    started = time.monotonic()
    with pytest.raises(errors.Unreachable, match="no trainer answers"):
        unary(transport)
    transport.close()
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("_", range(3))
def test_a_trainer_that_has_just_started_is_found(_):
    """The first try after a pause in which it listens reaches it: grpc looks again at least as often as we do."""
    host = unused()
    with ExitStack() as started:

        def start_meanwhile(seconds):
            slept.append(seconds)
            if len(slept) == 2:
                started.enter_context(peer(http2(GRPC, EMPTY, OK), port=int(host.rpartition(":")[2])))
            time.sleep(seconds)

        slept: list[float] = []
        transport = RetryingTransport(GrpcTransport(host, tls=False, address="x"), sleep=start_meanwhile)
        assert unary(transport) == pb.Run()
        assert len(slept) == 2
        transport.close()


@pytest.mark.parametrize("status", ["429", "503"])
def test_a_gateway_that_is_busy_is_asked_again(status):
    """HTTP 429 and 503 are no answer but a request for patience."""
    with peer(http2(GRPC, EMPTY, OK, before=[((":status", status),)] * 2)) as host:
        transport = RetryingTransport(GrpcTransport(host, tls=False, address=f"http://{host}"))
        assert unary(transport) == pb.Run()
        transport.close()


def test_a_connection_that_breaks_is_made_again():
    """A trainer that is started again while somebody asks: the next try finds the new one."""
    answers = iter([http2(GRPC, EMPTY[:3], then="cut"), http2(GRPC, EMPTY, OK)])

    def handle(connection):
        next(answers)(connection)

    with peer(handle) as host:
        transport = RetryingTransport(GrpcTransport(host, tls=False, address=f"http://{host}"))
        assert unary(transport) == pb.Run()
        transport.close()


@pytest.mark.parametrize("module", [calls, certificates, grpc, proxies, reasons, retrying], ids=lambda m: m.__name__)
def test_the_clock_on_the_wall_is_never_asked(module):
    """Somebody may set it while a call waits: times are taken from the clock that only goes forward."""
    named = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert not named & {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow"}


def test_a_clock_that_is_set_changes_nothing(monkeypatch):
    """The system's time jumps by a day between all looks at it, and the call has its tries and its pauses."""
    jumps = iter(range(0, 10**9, 86_400))
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    inner = Scripted(Clock(), DOWN, DOWN, "answer")
    transport = RetryingTransport(inner, sleep=[].append)
    assert unary(transport, timeout=5) == "answer"
    assert all(4 < timeout <= 5 for _, timeout in inner.tries)
