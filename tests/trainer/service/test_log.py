"""One line for each call, found again by its id, and nothing in it that is secret."""

from __future__ import annotations

import io
import json
import logging
import re

import grpc
import pytest
from support.answering import JSON, PATIENCE_SECONDS, TOKEN, WEB, Answering, framed, get, post
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import log
from akka_optimize.trainer.service.options import Options

BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def lines():
    """What the service wrote since, as JSON."""
    text, service = io.StringIO(), logging.getLogger("akka_optimize.service")
    handler = logging.StreamHandler(text)
    handler.setFormatter(log.JsonLines())
    before = service.level
    service.addHandler(handler)
    service.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in text.getvalue().splitlines()]
    service.removeHandler(handler)
    service.setLevel(before)


def test_one_line_for_each_call(lines):
    """Time, id, method, code, milliseconds, who called and with what."""
    with served(Answering()) as host:
        post(host, "GetRun", b"{}", JSON | {"x-request-id": "one", "user-agent": "a test"})
        post(host, "GetRun", b'{"runId":"none"}', JSON | {"x-request-id": "two"})
        get(host, "/nothing%0A", {"x-request-id": "three"})
    (one, two, three) = lines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["time"])
    assert (one["requestId"], one["method"], one["code"]) == ("one", f"/{SERVICE}/GetRun", "ok")
    assert one["peer"].startswith("127.0.0.1:")
    assert one["userAgent"] == "a test"
    assert 0 <= one["ms"] < 10_000
    assert (two["requestId"], two["code"], two["level"]) == ("two", "not_found", "info")
    assert (three["method"], three["code"]) == ("/nothing\n", "http 404")


def test_no_token_and_no_body(lines):
    """Neither the right token, nor a wrong one, nor what a request or a fault of ours holds."""
    with served(Answering(), options=Options(token=TOKEN)) as host:
        post(host, "GetRun", b'{"runId":"SECRET"}', JSON | BEARER)
        post(host, "GetRun", b'{"runId":"SECRET"}', JSON | {"authorization": "Bearer WRONG"})
        post(host, "GetRun", b'{"runId":SECRET}', JSON | BEARER)
    told = json.dumps(lines())
    assert [line["code"] for line in lines()] == ["ok", "unauthenticated", "invalid_argument"]
    assert not re.search(f"{TOKEN}|SECRET|WRONG|Bearer", told)
    assert TOKEN not in repr(Options(token=TOKEN))


@pytest.mark.parametrize("given", ["a", "0123456789abcdef", "A-b.c_9", "x" * 64])
def test_a_well_formed_id_is_taken_and_returned(given):
    """So that the caller finds its call in our log."""
    with served(Answering()) as host:
        assert post(host, "GetRun", b"{}", JSON | {"x-request-id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, 'a"b', "a;b", "ä".encode().decode("latin-1")])
def test_any_other_is_replaced(given):
    """The log is not for strangers to write in; the caller gets the id that holds."""
    with served(Answering()) as host:
        headers = [(b"content-type", b"application/json"), (b"x-request-id", given.encode("latin-1"))]
        assert re.fullmatch(r"[0-9a-f]{16}", post(host, "GetRun", b"{}", headers).headers["x-request-id"])


def test_a_stock_grpc_client_gets_the_id():
    """Among the initial metadata, of errors as well."""
    with served(Answering()) as host, grpc.insecure_channel(host) as channel:
        method = channel.unary_unary(f"/{SERVICE}/GetRun")
        metadata = (("x-request-id", "id-1"),)
        for run_id in ("a", "none"):
            call = method.future(
                pb.GetRunRequest(run_id=run_id).SerializeToString(), metadata=metadata, timeout=PATIENCE_SECONDS
            )
            call.exception()
            assert dict(call.initial_metadata())["x-request-id"] == "id-1"


STREAM = {"content-type": "application/connect+json"}
GZIP = {"grpc-accept-encoding": "gzip"}
CODES = [
    pytest.param("GetRunLog", framed(b""), WEB, "ok", id="web"),
    pytest.param("GetRunLog", framed(b"\x0a\x04none"), WEB, "not_found", id="web-error"),
    pytest.param("GetRunLog", framed(b"\x0a\x04none"), WEB | GZIP, "not_found", id="web-packed-error"),
    pytest.param("GetRunLog", framed(b"{}"), STREAM, "ok", id="stream"),
    pytest.param("GetRunLog", framed(b'{"runId":"none"}'), STREAM, "not_found", id="stream-error"),
    pytest.param("GetRun", b'{"runId":"fault"}', JSON, "internal", id="fault"),
]


@pytest.mark.parametrize(("method", "content", "headers", "code"), CODES)
def test_the_code_is_what_the_caller_read(lines, method, content, headers, code):
    """Each protocol has another place for it."""
    with served(Answering()) as host:
        post(host, method, content, headers)
    assert [line["code"] for line in lines() if "code" in line] == [code]


def test_a_fault_is_logged_with_its_traceback(lines):
    """In one line of JSON like all others, under the call's id."""
    with served(Answering()) as host:
        post(host, "GetRun", b'{"runId":"fault"}', JSON | {"x-request-id": "id-9"})
    (fault,) = [line for line in lines() if line["level"] == "error"]
    assert (fault["requestId"], fault["message"]) == ("id-9", "a fault in call id-9")
    assert fault["traceback"].endswith("KeyError: 'a secret of the trainer'")


def test_the_log_goes_to_stderr_once(capsys):
    """Asked for twice it is written once, and nothing of it reaches other logs."""
    service = logging.getLogger("akka_optimize.service")
    before = (list(service.handlers), service.level, service.propagate)
    try:
        log.log_to_stderr()
        log.log_to_stderr()
        service.info("hello")
    finally:
        service.handlers, service.level, service.propagate = before
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["message"] == "hello"
