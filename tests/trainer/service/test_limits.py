"""Every limit has its own error, which says how much is allowed."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time

import grpc
import pytest
from connectrpc.errors import ConnectError
from support.answering import JSON, WEB, Answering, framed, get, post, raw
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import refusals
from akka_optimize.trainer.service.limits import Body
from akka_optimize.trainer.service.options import Limits, Options

LIMITS = Limits(message_bytes=1000, list_items=3, header_bytes=2000, streams=2, connection_streams=3)
TOO_LARGE = "the request's message is larger than 1000 bytes, and no more are allowed"
PROTO = {"content-type": "application/proto"}


@pytest.fixture(scope="module")
def host():
    """A service with small limits."""
    with served(Answering(), options=Options(limits=LIMITS)) as host:
        yield host


def exhausted(reply, status=429):
    """The sentence of a reply that says so."""
    assert (reply.status_code, reply.json()["code"]) == (status, "resource_exhausted")
    return reply.json()["message"]


def upload(size):
    """A request of exactly that many bytes."""
    message = pb.WriteUploadRequest(data=bytes(size - 3)).SerializeToString()
    assert len(message) == size
    return message


def test_a_message_of_the_limit_passes(host):
    """The limit is how much there may be, in every protocol."""
    assert post(host, "WriteUpload", upload(1000), PROTO).status_code == 200
    assert b"grpc-status: 0" in post(host, "WriteUpload", framed(upload(1000)), WEB).content


def test_a_message_over_the_limit(host):
    """One byte more is refused, whether the length was announced or not."""
    assert exhausted(post(host, "WriteUpload", upload(1001), PROTO)) == TOO_LARGE
    assert exhausted(post(host, "WriteUpload", bytes(2000), PROTO), 413) == TOO_LARGE
    assert exhausted(post(host, "WriteUpload", iter([bytes(600)] * 5), PROTO)) == TOO_LARGE
    assert post(host, "WriteUpload", framed(bytes(2000)), WEB).headers["grpc-message"] == TOO_LARGE


def test_a_body_without_end(monkeypatch):
    """It is read no further than it may be long, and a little for politeness; the rest is nobody's."""
    monkeypatch.setattr(refusals, "LEFT_UNREAD", 2000)
    taken = []

    async def receive():
        taken.append(1)
        return {"type": "http.request", "body": bytes(600), "more_body": True}

    async def read():
        body = Body(receive, LIMITS, talk=False)
        while True:
            await body()

    with pytest.raises(ConnectError, match=TOO_LARGE):
        asyncio.run(read())
    assert len(taken) == 2 + 4


def test_a_connection_with_a_rest_on_it_closes(host):
    """What was left unread would be taken for the next request."""
    announced = {"content-length": "9000000"}
    told = raw(host, head("WriteUpload", PROTO | announced) + bytes(1_500_000))
    assert told.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in told.lower()


def head(method, headers):
    """The beginning of a request over HTTP/1.1."""
    lines = [f"POST /{SERVICE}/{method} HTTP/1.1", "host: localhost", *(f"{key}: {headers[key]}" for key in headers)]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_stock_grpc_client_over_the_limit(host):
    """The sentence arrives, also where the client sends a hundred times more than is taken; the connection stays."""
    with grpc.insecure_channel(host) as channel:
        method = channel.unary_unary(
            f"/{SERVICE}/WriteUpload",
            request_serializer=pb.WriteUploadRequest.SerializeToString,
            response_deserializer=pb.WriteUploadReply.FromString,
        )
        for size in (1500, 100_000, 3_000_000):
            with pytest.raises(grpc.RpcError) as caught:
                method(pb.WriteUploadRequest(data=bytes(size)), timeout=20)
            assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
            assert caught.value.details() == TOO_LARGE
        assert method(pb.WriteUploadRequest(data=bytes(10)), timeout=20).size == 10


def test_a_small_body_that_expands(host):
    """What is packed counts by what it holds, and no more than the limit of it is ever unpacked."""
    bomb = gzip.compress(bytes(50_000_000))[:900] + b""
    assert len(bomb) < 1000
    assert exhausted(post(host, "WriteUpload", bomb, PROTO | {"content-encoding": "gzip"})) == TOO_LARGE
    reply = post(host, "WriteUpload", framed(bomb, 1), WEB | {"grpc-encoding": "gzip"})
    assert b"grpc-status: 8" in reply.content
    fine = gzip.compress(upload(1000))
    assert post(host, "WriteUpload", fine, PROTO | {"content-encoding": "gzip"}).status_code == 200


@pytest.mark.parametrize(
    "packed",
    [b"nothing packed", gzip.compress(b"cut off")[:-5], gzip.compress(b"") * 2],
    ids=["no-gzip", "cut-off", "several"],
)
def test_gzip_that_is_damaged(host, packed):
    """Cut off, followed by another, or no gzip at all."""
    reply = post(host, "WriteUpload", packed, PROTO | {"content-encoding": "gzip"})
    assert (reply.status_code, reply.json()["message"]) == (400, "the request's gzip is damaged")


def test_thousands_of_packed_nothings():
    """Empty files one after another were copied once each, for minutes; now they are refused at once."""
    with served(Answering()) as host:
        began = time.perf_counter()
        reply = post(host, "GetRun", gzip.compress(b"") * 100_000, JSON | {"content-encoding": "gzip"})
        assert reply.status_code == 400
        assert time.perf_counter() - began < 5


def test_a_list_that_is_too_long(host):
    """It is named with its length, in JSON before anything is built of it."""
    sentence = "points has 4 entries, and at most 3 are allowed"
    message = pb.BranchesRequest(points=[pb.BranchPoint()] * 4)
    assert exhausted(post(host, "SubmitBranches", message.SerializeToString(), PROTO)) == sentence
    assert exhausted(post(host, "SubmitBranches", json.dumps({"points": [{}] * 4}))) == sentence
    assert post(host, "SubmitBranches", json.dumps({"points": [{}] * 3})).json() == {"steps": "3"}
    message = pb.PinSnapshotRequest(kinds=["a"] * 4)
    assert exhausted(post(host, "PinSnapshot", message.SerializeToString(), PROTO)).startswith("kinds has 4 entries")


def test_groups_nested_without_end(host):
    """Bytes that nest deeper than any message are no message, and take no stack down."""
    reply = post(host, "GetRun", b"\x0b" * 900, PROTO)
    assert reply.json()["message"] == "the request's bytes are no GetRunRequest"


def test_headers_that_are_too_large(host):
    """Together, names and values and the path; a little over the limit is told, and much over ends the connection."""
    sentence = "the request's headers are larger than 2000 bytes together"
    assert exhausted(post(host, "GetRun", b"{}", JSON | {"x": "y" * 3000}), 431) == sentence
    assert get(host, f"/{'a' * 3000}").text == f"{sentence}\n"
    assert raw(host, b"GET / HTTP/1.1\r\nx: " + b"y" * 20_000).startswith(b"HTTP/1.1 431")


def test_headers_that_are_not_text(host):
    """They are named, and nobody stumbles over them."""
    reply = post(host, "GetRun", b"{}", [(b"content-type", b"application/json"), (b"x-odd", b"\xff")])
    assert (reply.status_code, reply.json()["message"]) == (400, "the header 'x-odd' is not UTF-8")


def test_calls_in_flight():
    """One more than there may be is refused at once; when one has ended there is room again."""
    servicer = Answering()
    with served(servicer, options=Options(limits=LIMITS)) as host:
        slow = [threading.Thread(target=post, args=(host, "GetRun", b'{"runId":"slow"}')) for _ in range(2)]
        for thread in slow:
            thread.start()
        while len(servicer.calls) < 2:
            time.sleep(0.01)
        reply = post(host, "GetRun")
        assert exhausted(reply) == "2 calls are in flight, as many as this trainer answers at once"
        assert post(host, "GetRun", framed(b""), WEB).headers["grpc-status"] == "8"
        servicer.gate.set()
        for thread in slow:
            thread.join()
        assert post(host, "GetRun").status_code == 200


def test_calls_of_one_connection(host):
    """A connection announces how many it takes, so that a client makes the others wait by itself."""
    greeting = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0" + b"\0\0\x08\x07\0\0\0\0\0" + bytes(8)
    settings = raw(host, greeting)
    assert b"\x00\x03\x00\x00\x00\x03" in settings  # MAX_CONCURRENT_STREAMS


def test_a_body_that_does_not_come():
    """A call whose body stays away ends, and holds no place for ever."""

    async def never():
        await asyncio.Event().wait()

    async def read():
        await Body(never, Limits(body_seconds=0.01), talk=False)()

    with pytest.raises(ConnectError, match=r"^the request's body did not arrive within 0\.01 s$"):
        asyncio.run(read())


def test_the_time_for_a_body_is_for_the_body():
    """Once it has come, the caller may be waited for as long as the call lasts."""
    parts = [{"type": "http.request", "body": b"a", "more_body": False}, {"type": "http.disconnect"}]

    async def receive():
        if len(parts) == 1:
            await asyncio.sleep(0.05)
        return parts.pop(0)

    async def read():
        body = Body(receive, Limits(body_seconds=0.02), talk=False)
        return [(await body())["type"], (await body())["type"]]

    assert asyncio.run(read()) == ["http.request", "http.disconnect"]
