"""A network that fails: what comes back is exactly right, or it says that nothing came, and in time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import network_faults as faults
from support import processes
from support.nginx import HTTP1, HTTP2, NOBODY, needed, nginx
from support.proxy import Fault, proxy
from support.service import served
from support.transports import CLIENTS, to_grpc, to_web

from akka_optimize import errors
from akka_optimize.client.transport import told
from akka_optimize.protocol import trainer_pb2 as pb


@pytest.fixture(scope="module")
def host():
    """A service that always answers the same."""
    with served(faults.CurveServicer()) as host:
        yield host


@pytest.fixture(params=CLIENTS)
def bench(request, host):
    return faults.Bench(host, request.param)


def assert_all_told(counts, least):
    """Nothing wrong, nothing late, and enough tries for that to mean something."""
    assert counts.wrong == []
    assert counts.hung == 0
    assert counts.exact + counts.told == counts.tried >= least


@pytest.mark.parametrize("side", ["up", "down"])
def test_a_call_cut_at_any_byte_is_told(bench, side):
    """A connection that ends within a call, either way, is Unreachable; never half an answer."""
    counts = bench.tries("", faults.run, faults.cuts(bench, faults.run, side, 7))
    assert_all_told(counts, 20)
    assert counts.told >= counts.tried - 3


@pytest.mark.parametrize("side", ["up", "down"])
def test_a_stream_cut_at_any_byte_is_told(bench, side):
    """A stream that breaks off is no shorter stream."""
    counts = bench.tries("", faults.curves, faults.cuts(bench, faults.curves, side, 61 if side == "down" else 23))
    assert_all_told(counts, 15)
    assert counts.told >= counts.tried - 3


@pytest.mark.parametrize("ask", faults.ASKED.values(), ids=faults.ASKED)
def test_a_connection_cut_once_is_tried_again(bench, ask):
    """Where the network comes back, so does the result, whole and once."""
    step = bench.length(ask)["down"] // 4
    counts = bench.tries("", ask, faults.cuts(bench, ask, "down", step, times=1), retried=True)
    assert_all_told(counts, 4)
    assert counts.exact == counts.tried


@settings(max_examples=20)
@given(
    client=st.sampled_from([*CLIENTS]),
    side=st.sampled_from(["up", "down"]),
    after=st.integers(0, 2000),
    times=st.integers(1, 2),
)
def test_curves_over_a_network_that_fails_anywhere_are_whole_or_told(host, client, side, after, times):
    """Both columns, every step, once; or an error of the network's."""
    counts = faults.Bench(host, client).tries("", faults.curves, [Fault("cut", side, after, times)], retried=True)
    assert_all_told(counts, 1)


@pytest.mark.parametrize("ask", faults.ASKED.values(), ids=faults.ASKED)
@pytest.mark.parametrize("part", [0, 2])
def test_a_half_open_connection_ends_at_the_deadline(bench, ask, part):
    """A peer that looks alive and sends nothing is TimedOut when the time is over."""
    silent = Fault("swallow", "down", bench.length(ask)["down"] * part // 4)
    counts = bench.tries("", ask, [silent], timeout=faults.SHORT)
    assert_all_told(counts, 1)
    assert counts.told == 1


def test_a_server_that_stops_reading_ends_at_the_deadline(bench):
    """A request that nobody takes over is TimedOut too, even when it fills every buffer."""
    counts = bench.tries("", faults.large, [Fault("stall", "up", 1 << 16)], timeout=faults.SHORT)
    assert_all_told(counts, 1)
    assert counts.told == 1


def test_retries_end_at_the_deadline(bench):
    """Tries, and the pauses between them, share the time of one call."""
    started = time.monotonic()
    counts = bench.tries("", faults.run, [Fault("cut", "down", 0)], timeout=faults.SHORT, retried=True)
    assert_all_told(counts, 1)
    assert time.monotonic() - started < faults.SHORT + faults.GRACE


@pytest.mark.parametrize("client", CLIENTS)
def test_a_service_killed_in_mid_stream_is_told(client):
    """What came before is delivered; then the connection is said to be cut."""
    service = processes.start(ENDLESS)
    with service, CLIENTS[client](service.stdout.readline().strip()) as transport:
        stream = transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=20)
        assert next(stream).run_id == "event"
        service.kill()
        with pytest.raises(errors.Unreachable, match=r"was cut|no trainer answers"):
            assert {event.run_id for event in stream} == {"event"}


ENDLESS = """
import sys, threading
from akka_optimize.protocol import trainer_pb2 as pb
from support.service import served

class Endless:
    def WatchRun(self, request, call):
        while True:
            yield pb.RunEvent(run_id="event")

with served(Endless()) as host:
    print(host, flush=True)
    threading.Event().wait()
"""


class LargeServicer(faults.CurveServicer):
    """Replies with more than the limit, or with as much as it is asked for."""

    def GetRun(self, request, call):
        return pb.Run(run_id="x" * int(request.run_id))


def test_a_reply_over_the_limit_is_exhausted(monkeypatch):
    """The limit is stated, and a reply just below it passes; over either protocol."""
    monkeypatch.setattr(told, "MOST_REPLY_BYTES", 5 << 20)
    with served(LargeServicer()) as large, to_web(large) as web:
        reply = web.unary("GetRun", pb.GetRunRequest(run_id=str((5 << 20) - 100)), pb.Run, timeout=20)
        assert len(reply.run_id) == (5 << 20) - 100
        with pytest.raises(errors.Exhausted, match="larger than 5 MiB"):
            web.unary("GetRun", pb.GetRunRequest(run_id=str(5 << 20)), pb.Run, timeout=20)


def test_a_reply_over_the_limit_is_exhausted_over_grpc():
    """A message longer than a client takes is told with the limit; the next call is not disturbed."""
    with served(LargeServicer()) as large, to_grpc(large) as grpc:
        with pytest.raises(errors.Exhausted, match="larger than 64 MiB"):
            grpc.unary("GetRun", pb.GetRunRequest(run_id=str(65 << 20)), pb.Run, timeout=30)
        assert grpc.unary("GetRun", pb.GetRunRequest(run_id="3"), pb.Run, timeout=20).run_id == "xxx"


@needed
def test_grpc_through_a_path_of_http1_suggests_grpc_web(host, tmp_path):
    """One plain sentence, with the option that would get through; and it does."""
    with nginx(tmp_path, HTTP1.format(host=host)) as passing:
        with to_grpc(passing) as grpc, pytest.raises(errors.Unreachable, match="does not speak HTTP/2") as caught:
            faults.run(grpc, 5)
        assert "--use-grpc-web" in caught.value.hint
        with to_web(passing) as web:
            assert faults.run(web, 5).run_id == "a"


@needed
def test_grpc_web_through_a_path_of_http2_suggests_grpc(host, tmp_path):
    """The other way round: what speaks HTTP/2 alone is for gRPC, and says so."""
    with nginx(tmp_path, HTTP2.format(host=host), http2=True) as passing:
        with to_web(passing) as web, pytest.raises(errors.Unreachable, match=r"does not speak HTTP/1\.1") as caught:
            faults.run(web, 5)
        assert caught.value.hint == "try without --use-grpc-web"
        with to_grpc(passing) as grpc:
            assert faults.run(grpc, 5).run_id == "a"


@needed
@pytest.mark.parametrize(("client", "http2"), [("web", False), ("grpc", True)])
def test_a_gateway_with_nothing_behind_it_is_told_in_one_sentence(client, http2, tmp_path):
    """Not the gateway's page, and not that nobody answered."""
    location = "grpc_pass grpc://127.0.0.1:1;" if http2 else NOBODY
    sentence = pytest.raises(errors.Unreachable, match=r"reaches no trainer behind it \(HTTP 502\)$")
    with nginx(tmp_path, location, http2=http2) as gateway, CLIENTS[client](gateway) as transport, sentence:
        faults.run(transport, 5)


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "grpc_proxy"])
def test_proxy_variables_do_not_concern_this_machine(bench, monkeypatch, variable):
    """A proxy for the rest of the world is not asked for what runs here."""
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    with bench.open(bench.host) as transport:
        assert faults.run(transport, 5).run_id == "a"


def test_cuts_are_where_they_should_be(host):
    """The proxy passes exactly as many bytes as it was told, and everything where nothing fails."""
    with proxy(host, Fault("cut", "down", 20)) as failing, to_web(failing.host) as web:
        with pytest.raises(errors.Unreachable):
            faults.run(web, 5)
        assert failing.carried["down"] == 20
    with proxy(host) as passing, to_web(passing.host) as web:
        assert faults.run(web, 5).run_id == "a"
