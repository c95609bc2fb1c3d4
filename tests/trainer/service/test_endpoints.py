"""The servicer's methods over the network: deadlines, callers that leave, faults of ours."""

from __future__ import annotations

import base64
import logging
import threading

import grpc
import httpx
import pytest
from connectrpc.method import IdempotencyLevel
from support.answering import JSON, PATIENCE_SECONDS, WEB, Answering, framed, post
from support.service import served

from akka_optimize.client.transport import retrying
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import codecs, endpoints


@pytest.fixture
def servicer():
    """One whose calls can be looked at afterwards."""
    return Answering()


@pytest.fixture
def host(servicer):
    """A service of its own."""
    with served(servicer) as host:
        yield host
        servicer.gate.set()


def unary(channel, run_id, **options):
    """GetRun, as a stock client makes it."""
    method = channel.unary_unary(
        f"/{SERVICE}/GetRun",
        request_serializer=pb.GetRunRequest.SerializeToString,
        response_deserializer=pb.Run.FromString,
    )
    return method.future(pb.GetRunRequest(run_id=run_id), **options)


def log_of(channel, run_id):
    """GetRunLog, as a stock client makes it."""
    method = channel.unary_stream(
        f"/{SERVICE}/GetRunLog",
        request_serializer=pb.GetRunLogRequest.SerializeToString,
        response_deserializer=pb.LogChunk.FromString,
    )
    return method(pb.GetRunLogRequest(run_id=run_id), timeout=PATIENCE_SECONDS)


def inactive(call):
    """Wait until a call is told to be over."""
    waited = threading.Event()
    for _ in range(2000):
        if not call.is_active():
            return True
        waited.wait(0.01)
    return False


def test_a_deadline_ends_the_call(host, servicer):
    """The caller hears DEADLINE_EXCEEDED in time, and the method can see that nobody waits any more."""
    with grpc.insecure_channel(host) as channel, pytest.raises(grpc.RpcError) as caught:
        unary(channel, "slow", timeout=0.2).result()
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert servicer.calls[0].time_remaining() - 0.2 <= 0
    assert inactive(servicer.calls[0])
    reply = post(host, "GetRun", b'{"runId":"slow"}', JSON | {"connect-timeout-ms": "50"})
    assert (reply.status_code, reply.json()["code"]) == (504, "deadline_exceeded")


def test_no_deadline_is_none(host, servicer):
    """A caller that sets none waits for as long as it takes."""
    post(host, "GetRun")
    assert servicer.calls[0].time_remaining() is None


def test_a_caller_that_leaves_ends_the_call(host, servicer):
    """Over HTTP/2, where the call alone is given up, and over HTTP/1.1, where the connection is."""
    with grpc.insecure_channel(host) as channel:
        call = unary(channel, "slow")
        assert servicer.entered.wait(PATIENCE_SECONDS)
        call.cancel()
        assert inactive(servicer.calls[0])
    with httpx.Client(timeout=0.2) as client, pytest.raises(httpx.ReadTimeout):
        client.post(f"http://{host}/{SERVICE}/GetRun", content=b'{"runId":"slow"}', headers=JSON)
    assert inactive(servicer.calls[1])


def test_a_stream_whose_caller_leaves_is_closed(host, servicer):
    """The generator ends, and with it what it holds; its caller's connection serves the next call."""
    with grpc.insecure_channel(host) as channel:
        parts = log_of(channel, "endless")
        assert next(parts).data == b"one"
        parts.cancel()
        assert servicer.ended.wait(PATIENCE_SECONDS)
        assert inactive(servicer.calls[0])
        assert unary(channel, "a", timeout=PATIENCE_SECONDS).result().run_id == "a"


def test_a_stream_whose_reader_stops_and_leaves_is_closed(host, servicer):
    """Also where the server waits for a reader over HTTP/1.1 that takes nothing."""
    body = framed(pb.GetRunLogRequest(run_id="endless").SerializeToString())
    with (
        httpx.Client(timeout=PATIENCE_SECONDS) as client,
        client.stream("POST", f"http://{host}/{SERVICE}/GetRunLog", content=body, headers=WEB) as reply,
    ):
        assert next(reply.iter_raw())
        assert servicer.entered.wait(PATIENCE_SECONDS)
        assert not servicer.ended.is_set()
    assert servicer.ended.wait(PATIENCE_SECONDS)


def test_many_streams_that_are_left_leak_no_thread(host, servicer):
    """More of them than there are threads, and another call is answered after each."""
    with grpc.insecure_channel(host) as channel:
        for _ in range(20):
            servicer.ended.clear()
            parts = log_of(channel, "endless")
            next(parts)
            parts.cancel()
            assert servicer.ended.wait(PATIENCE_SECONDS)
        assert unary(channel, "a", timeout=PATIENCE_SECONDS).result().run_id == "a"
    assert len([thread for thread in threading.enumerate() if thread.name.startswith("rpc")]) <= 12


@pytest.mark.parametrize("method", ["GetRun", "GetRunLog"])
def test_a_fault_of_ours_is_one_sentence_and_a_traceback_in_the_log(host, method, caplog):
    """Nothing of the fault is told but the id under which the log has all of it."""
    headers = WEB | {"x-request-id": "id-7"}
    request = pb.GetRunRequest(run_id="fault").SerializeToString()
    reply = post(host, method, framed(request), headers)
    assert b"grpc-status: 13" in reply.content
    assert b"the%20trainer%20met%20a%20fault%20of%20its%20own%20in%20call%20id-7" in reply.content
    assert b"secret" not in reply.content
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage() == "a fault in call id-7"
    assert record.exc_info[0] is KeyError


@pytest.mark.parametrize("method", ["GetRun", "GetRunLog"])
def test_an_error_brings_field_and_hint(host, method):
    """In our own trailer, and in the details that other clients know."""
    channel = grpc.insecure_channel(host)
    call = unary(channel, "none") if method == "GetRun" else log_of(channel, "none")
    with channel, pytest.raises(grpc.RpcError) as caught:
        call.result() if method == "GetRun" else list(call)
    told = dict(caught.value.trailing_metadata())
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    assert caught.value.details() == "no run 'none'"
    assert pb.ErrorDetail.FromString(told["akka-error-bin"]).field == "runId"
    assert pb.ErrorDetail.FromString(told["akka-error-bin"]).SerializeToString() in told["grpc-status-details-bin"]


def test_an_error_after_the_first_message(host):
    """A Connect stream tells it in its last message, to be read without a decoder."""
    reply = post(host, "GetRunLog", framed(b'{"runId":"none"}'), {"content-type": "application/connect+json"})
    assert b'"code": "not_found"' in reply.content
    assert b'"debug": {"field": "runId"}' in reply.content
    assert base64.b64encode(pb.ErrorDetail(field="runId").SerializeToString()).rstrip(b"=") in reply.content


def test_replies_in_every_protocol_are_the_same_message(host):
    """JSON for people, protobuf for programs."""
    proto = post(
        host, "GetRun", pb.GetRunRequest(run_id="a").SerializeToString(), {"content-type": "application/proto"}
    )
    assert pb.Run.FromString(proto.content) == pb.Run(run_id="a", name="Ünïcode")
    assert post(host, "GetRun", b'{"run_id":"a"}').json() == {"runId": "a", "name": "Ünïcode"}


@pytest.mark.parametrize("method", ["GetRun", "GetRunLog"])
def test_replies_are_made_in_threads(host, method, monkeypatch):
    """Curves as JSON take a while to write, and the event loop has other callers."""
    made, encode = [], codecs.Json.encode

    def noted(self, message):
        made.append((type(message), threading.current_thread().name.partition("_")[0]))
        return encode(self, message)

    monkeypatch.setattr(codecs.Json, "encode", noted)
    post(host, method, framed(b"{}"), {"content-type": "application/grpc-web+json"})
    kind = pb.Run if method == "GetRun" else pb.LogChunk
    assert {thread for message, thread in made if message is kind} == {"rpc"}
    assert {message for message, _ in made} == {kind, codecs.Encoded}


def test_every_method_says_what_a_second_call_does():
    """Methods that read have no effect; what a client may retry is at least repeatable; the rest promises nothing."""
    level = {method.name: endpoints.idempotency(method.name) for method in endpoints.METHODS}
    assert {name for name, kind in level.items() if kind is IdempotencyLevel.UNKNOWN} == {
        *("CreateWorkload", "CancelRun", "PauseRun", "ResumeRun", "AnnotateRun", "DeleteRun", "UnpinSnapshot"),
    }
    assert set(level) >= endpoints.REPEATABLE
    assert all(level[name] is not IdempotencyLevel.UNKNOWN for name in level if retrying.repeatable(name))
