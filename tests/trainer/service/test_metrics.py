"""What Prometheus gets to read."""

from __future__ import annotations

import threading

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.answering import PATIENCE_SECONDS, WEB, Answering, framed, get, post
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service.serving import Starting

GET_RUN = f"{SERVICE}/GetRun"


def samples(host):
    """Every sample of the page, by name and labels."""
    page = get(host, "/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
    }


def test_calls_are_counted_by_method_and_code():
    """Whichever the protocol; what has no path of its own is counted as one, so that nobody can add labels."""
    with served(Answering()) as host:
        post(host, "GetRun")
        post(host, "GetRun", b'{"runId":"none"}')
        post(host, "GetRun", framed(pb.GetRunRequest(run_id="none").SerializeToString()), WEB)
        post(host, "GetRun", b"broken")
        with grpc.insecure_channel(host) as channel, pytest.raises(grpc.RpcError):
            channel.unary_unary(f"/{GET_RUN}")(pb.GetRunRequest(run_id="none").SerializeToString(), timeout=20)
        for name in range(5):
            post(host, f"Nothing{name}")
        found = samples(host)
    assert found["akka_trainer_calls_total", GET_RUN, "ok"] == 1
    assert found["akka_trainer_calls_total", GET_RUN, "not_found"] == 3
    assert found["akka_trainer_calls_total", GET_RUN, "invalid_argument"] == 1
    assert found["akka_trainer_calls_total", "other", "unimplemented"] == 5
    assert found["akka_trainer_call_seconds_count", GET_RUN] == 5


def test_streams_and_calls_in_flight():
    """Counted while they last."""
    servicer = Answering()
    with served(servicer) as host, grpc.insecure_channel(host) as channel:
        slow = threading.Thread(target=post, args=(host, "GetRun", b'{"runId":"slow"}'))
        slow.start()
        parts = channel.unary_stream(f"/{SERVICE}/GetRunLog")(
            pb.GetRunLogRequest(run_id="endless").SerializeToString(), timeout=PATIENCE_SECONDS
        )
        next(parts)
        while len(servicer.calls) < 2:
            pass
        found = samples(host)
        assert (found["akka_trainer_open_streams",], found["akka_trainer_open_calls",]) == (1, 3)  # with this one
        parts.cancel()
        servicer.gate.set()
        slow.join()
        assert servicer.ended.wait(PATIENCE_SECONDS)
        while (found := samples(host))["akka_trainer_open_calls",] > 1:
            pass
        assert found["akka_trainer_open_streams",] == 0
        assert found["akka_trainer_calls_total", f"{SERVICE}/GetRunLog", "cancelled"] == 1


def test_runs_are_the_servicers():
    """How many wait and how many train, as GetInfo has it."""
    with served(Answering()) as host:
        found = samples(host)
    assert [found[f"akka_trainer_{name}",] for name in ("queued_runs", "running_runs", "ready")] == [3, 1, 1]


def test_while_the_home_is_opened(tmp_path):
    """The page is there from the first moment, and says that the rest is not."""
    with served(Starting(tmp_path)) as host:
        assert samples(host)["akka_trainer_ready",] == 0


def test_two_services_count_apart():
    """A service's numbers are its own, also in one process."""
    with served(Answering()) as one, served(Answering()) as other:
        post(one, "GetRun")
        assert ("akka_trainer_calls_total", GET_RUN, "ok") in samples(one)
        assert ("akka_trainer_calls_total", GET_RUN, "ok") not in samples(other)
