"""What answers under which path, as curl and other plain clients see it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess

import httpx
import pytest
from support.answering import JSON, WEB, Answering, framed, get, post, raw
from support.service import served

from akka_optimize import errors
from akka_optimize.protocol import SERVICE, status
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service.app import Application
from akka_optimize.trainer.service.serving import Serving


@pytest.fixture(scope="module")
def host():
    """One service for all of these; none of them changes it."""
    with served(Answering()) as host:
        yield host


def test_curl_gets_a_run(host):
    """What the guide shows is what works: curl, JSON in, JSON out, over HTTP/1.1."""
    if shutil.which("curl") is None:
        assert post(host, "GetRun", '{"runId":"7d49"}').json() == {"runId": "7d49", "name": "Ünïcode"}
        return
    url = f"http://{host}/{SERVICE}/GetRun"
    command = ["curl", "-s", "-i", "-H", "content-type: application/json", "-d", '{"runId":"7d49"}', url]
    told = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    head, _, body = told.partition("\n\n")
    assert head.startswith("HTTP/1.1 200")
    assert httpx.Response(200, text=body).json() == {"runId": "7d49", "name": "Ünïcode"}


def test_an_error_reads_well_in_curl(host):
    """Code, sentence, field and hint are all there to read, and the status is HTTP's own."""
    reply = post(host, "GetRun", '{"runId":"none"}')
    told = reply.json()
    assert reply.status_code == 404
    assert (told["code"], told["message"]) == ("not_found", "no run 'none'")
    assert told["details"][0]["type"] == "akka.optimize.trainer.v1.ErrorDetail"
    assert told["details"][0]["debug"] == {"field": "runId", "hint": "`runs list` shows them"}


def test_what_there_is_besides_the_rpcs(host):
    """GET / says what this is; a path without anything is one sentence; nothing is guessed or kept by a browser."""
    root = get(host, "/")
    assert root.status_code == 200
    assert root.text.startswith("akka-optimize trainer ")
    assert root.headers["content-type"].startswith("text/plain")
    assert (root.headers["x-content-type-options"], root.headers["cache-control"]) == ("nosniff", "no-store")
    missing = get(host, "/robots.txt")
    assert (missing.status_code, missing.text) == (404, "there is nothing at '/robots.txt'\n")


@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_an_rpc_wants_post(host, verb):
    """Whoever opens an rpc in a browser is told how to call it."""
    reply = httpx.request(verb, f"http://{host}/{SERVICE}/GetRun")
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
    assert reply.text.startswith("GetRun wants POST\n")


def test_a_page_wants_get(host):
    """The other way round as well."""
    assert post(host, "/metrics").status_code == 405
    assert httpx.head(f"http://{host}/").text == ""


def test_a_method_that_is_not_there(host):
    """A newer client's rpc is Unsupported in every protocol, with a hint at the version."""
    assert post(host, "Foo").status_code == 404
    assert post(host, "Foo").json()["code"] == "unimplemented"
    reply = post(host, "Foo", framed(b""), WEB)
    assert (reply.status_code, reply.headers["grpc-status"]) == (200, "12")
    assert reply.headers["grpc-message"] == "this trainer has no method 'Foo'"


@pytest.mark.parametrize("kind", ["", "text/xml", "application/octet-stream", "application/grpc-web-text"])
def test_another_content_type_is_refused(host, kind):
    """The sentence names what was sent and what is taken."""
    reply = post(host, "GetRun", b"{}", {"content-type": kind} if kind else {})
    told = reply.headers.get("grpc-message") or reply.json()["message"]
    assert "application/json" in told
    assert kind in told


def test_a_content_type_may_have_parameters(host):
    """As browsers and some libraries send it."""
    assert post(host, "GetRun", b"{}", {"content-type": "application/json; charset=utf-8"}).status_code == 200


def test_a_stream_takes_the_types_of_streams(host):
    """Plain JSON on a streaming method is told which type streams, and that one works."""
    assert "application/connect+json" in post(host, "GetRunLog").json()["message"]
    reply = post(host, "GetRunLog", framed(b"{}"), {"content-type": "application/connect+json"})
    assert b"b25l" in reply.content
    assert reply.content.endswith(framed(b"{}", 2))


def test_grpc_needs_http_2(host):
    """gRPC over HTTP/1.1 has no place for its status, and is told so where such a client looks."""
    reply = post(host, "GetRun", framed(b""), {"content-type": "application/grpc"})
    assert (reply.headers["grpc-status"], reply.headers["grpc-message"]) == ("12", "gRPC needs HTTP/2")
    assert errors.Unsupported is type(status.error_of("UNIMPLEMENTED", "gRPC needs HTTP/2"))


def test_http_1_0(host):
    """An old client gets its answer, and the connection closes after it."""
    head = f"Host: {host}\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
    told = raw(host, f'POST /{SERVICE}/GetRun HTTP/1.0\r\n{head}{{"runId": "a"}}'.encode())
    assert told.startswith(b"HTTP/1.1 200")
    assert b'"runId": "a"' in told


def test_a_websocket_is_closed(host):
    """There are none here."""
    head = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    told = raw(host, f"GET / HTTP/1.1\r\nHost: {host}\r\n{head}{key}\r\n\r\n".encode())
    assert told.startswith(b"HTTP/1.1 403")


BROKEN = [
    pytest.param("GetRun", b'{"runId": a}', JSON, "the request's JSON, line 1, column 11: 'a' where", id="json"),
    pytest.param("GetRun", b'{"runId": "a"', JSON, "the request's JSON, line 1, column 14: the document", id="cut"),
    pytest.param("GetRun", b"", JSON, "the request's JSON, line 1, column 1: the document is empty", id="empty"),
    pytest.param("GetRun", b'{"runId": "\xff"}', JSON, "the request's JSON is not UTF-8 at byte 12", id="utf-8"),
    pytest.param("GetRun", b"[" * 5000, JSON, "the request's JSON, line 1, column 65: nested more", id="deep"),
    pytest.param("GetRun", b'{"runid": "a"}', JSON, "runid is no field of GetRunRequest, which has runId", id="field"),
    pytest.param("GetRun", b"[]", JSON, "the request has to be a JSON object", id="list"),
    pytest.param("GetRun", b'{"runId": 5}', JSON, "runId has to be a string", id="kind"),
    pytest.param("SubmitBranches", b'{"points": {}}', JSON, "points has to be a list", id="no-list"),
    pytest.param("SubmitBranches", b'{"points": [5]}', JSON, "points[0] has to be a JSON object", id="entry"),
    pytest.param("ListRuns", b'{"limit": 1e99}', JSON, "the request is no ListRunsRequest: limit: ", id="range"),
    pytest.param("WriteUpload", b'{"data": "?"}', JSON, "data has to be base64", id="base64"),
    pytest.param(
        "GetRun",
        b"\xff\xff",
        {"content-type": "application/proto"},
        "the request's bytes are no GetRunRequest",
        id="pb",
    ),
]


@pytest.mark.parametrize(("method", "content", "headers", "sentence"), BROKEN)
def test_what_cannot_be_read_is_told_with_its_place(host, method, content, headers, sentence):
    """Broken JSON, unknown fields, wrong kinds and bytes that are no message: InvalidArgument and one sentence."""
    reply = post(host, method, content, headers)
    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_argument")
    assert reply.json()["message"].startswith(sentence)


FRAMES = [
    pytest.param(b"\0\0\0\0\x1eab", "3", id="cut-off"),
    pytest.param(b"\0\0", "3", id="cut-prefix"),
    pytest.param(b"\0\xff\xff\xff\xff", "3", id="four-gigabytes-promised"),
    pytest.param(b"\x40\0\0\0\0", "3", id="flags"),
    pytest.param(framed(b"\xff\xff"), "3", id="no-message"),
    pytest.param(b"", "12", id="none"),
    pytest.param(framed(b"") * 2, "12", id="two"),
]


@pytest.mark.parametrize(("content", "code"), FRAMES)
def test_broken_frames(host, content, code, caplog):
    """A body that is no frame, or the wrong number of them, is an error of the caller's and leaves no traceback."""
    reply = post(host, "GetRun", content, WEB)
    assert f"grpc-status: {code}\r\n".encode() in reply.content
    assert [record for record in caplog.records if record.exc_info] == []


def test_the_next_call_is_answered(host):
    """After all that, the service is as it was."""
    reply = post(host, "GetRun", framed(pb.GetRunRequest(run_id="a").SerializeToString()), WEB)
    assert b"grpc-status: 0" in reply.content


def test_lifespan_needs_nothing():
    """Other servers than ours announce start and end, and are answered."""
    told = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    sent = []

    async def receive():
        return next(told)

    async def send(message):
        sent.append(message["type"])

    asyncio.run(Application(Serving(None), None)({"type": "lifespan"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
