"""Who may ask at all: hosts, origins and tokens, in every protocol."""

from __future__ import annotations

import socket

import grpc
import pytest
from support.answering import JSON, TOKEN, WEB, Answering, framed, get, post, raw
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import guard
from akka_optimize.trainer.service.options import Options


@pytest.fixture(scope="module")
def host():
    """A service that needs no token, and answers as trainer.example as well."""
    with served(Answering(), options=Options(hosts=frozenset({"Trainer.example"}))) as host:
        yield host


@pytest.fixture(scope="module")
def locked():
    """A service that needs a token."""
    with served(Answering(), options=Options(token=TOKEN)) as host:
        yield host


OURS = ["localhost", "LOCALHOST:1", "127.0.0.1:9", "10.1.2.3", "[::1]:9001", "[fe80::1]", "trainer.example"]
OURS += [socket.gethostname(), "localhost.", "trainer.example:443", "a.localhost"]
FOREIGN = ["evil.example", "evil.example:9001", "localhost.evil.example", "127.0.0.1.evil.example", "0x7f.1", "trainer"]


@pytest.mark.parametrize("name", OURS)
def test_names_that_are_ours(host, name):
    """Loopback, any address, this machine's name and the names that were allowed."""
    assert post(host, "GetRun", b"{}", JSON | {"host": name}).status_code == 200


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_host_is_refused(host, name):
    """A name that somebody lets point here is not ours, so that a page under it reads nothing."""
    reply = post(host, "GetRun", b"{}", JSON | {"host": name})
    assert reply.status_code == 421
    assert reply.json()["message"].startswith("this trainer does not answer as ")
    assert reply.json()["details"][0]["debug"] == {"hint": "use its address, or start it with --allow-host NAME"}
    assert get(host, "/metrics", {"host": name}).status_code == 421
    assert get(host, "/", {"host": name}).status_code == 421


@pytest.mark.parametrize(
    "name", ["", "a b", "user@localhost", "localhost:x", "[::1", "localhost:1:2", "http://localhost"]
)
def test_a_host_that_is_none_is_refused(host, name):
    """Nothing is guessed from a host that is no host."""
    told = raw(host, f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
    assert told.startswith(b"HTTP/1.1 421")
    assert b"the request names " in told


def test_this_machines_full_name_is_ours(monkeypatch):
    """The fully qualified name is asked for once, when a name is not known otherwise."""
    asked = []
    monkeypatch.setattr(guard.socket, "getfqdn", lambda: asked.append(1) or "Box.Example.ORG")
    with served(Answering()) as host:
        assert post(host, "GetRun", b"{}", JSON | {"host": "box.example.org"}).status_code == 200
        assert post(host, "GetRun", b"{}", JSON | {"host": "evil.example.org"}).status_code == 421
    assert asked == [1]


ORIGINS = ["http://evil.example", "null", "http://localhost.evil.example", "https://evil", "[", "http://127.0.0.1:1"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_another_sites_page_is_refused(host, origin):
    """A browser says which page asks; only a page of ours may."""
    reply = post(host, "GetRun", b"{}", JSON | {"origin": origin})
    assert (reply.status_code, reply.json()["code"]) == (403, "permission_denied")
    assert "access-control-allow-origin" not in reply.headers


def test_our_own_page_may_ask(host):
    """The same name and port is the same site; the port that goes without saying may be said."""
    assert post(host, "GetRun", b"{}", JSON | {"origin": f"http://{host}"}).status_code == 200
    ours = {"host": "trainer.example", "origin": "https://trainer.example:443"}
    assert post(host, "GetRun", b"{}", JSON | ours).status_code == 200


def test_what_the_browser_calls_cross_site_is_refused(host):
    """Also without an Origin, as for a link or an image."""
    assert get(host, "/metrics", {"sec-fetch-site": "cross-site"}).status_code == 403
    assert get(host, "/metrics", {"sec-fetch-site": "none"}).status_code == 200


def test_a_stock_grpc_client_reads_the_refusal(host):
    """A gRPC client gets status and sentence where it looks for them."""
    options = [("grpc.default_authority", "evil.example")]
    with grpc.insecure_channel(host, options=options) as channel, pytest.raises(grpc.RpcError) as caught:
        call(channel)
    assert caught.value.code() == grpc.StatusCode.PERMISSION_DENIED
    assert caught.value.details() == "this trainer does not answer as 'evil.example'"


def call(channel, metadata=()):
    """GetRun, as a stock client makes it."""
    method = channel.unary_unary(
        f"/{SERVICE}/GetRun",
        request_serializer=pb.GetRunRequest.SerializeToString,
        response_deserializer=pb.Run.FromString,
    )
    return method(pb.GetRunRequest(run_id="a"), metadata=metadata, timeout=20)


WRONG = [
    pytest.param({}, "this trainer needs a token, and the call came without one", id="none"),
    pytest.param({"authorization": "Bearer wrong"}, "the call's token is not this trainer's", id="wrong"),
    pytest.param({"authorization": f"Bearer {TOKEN}x"}, "the call's token is not this trainer's", id="longer"),
    pytest.param({"authorization": f"Bearer {TOKEN[:-1]}"}, "the call's token is not this trainer's", id="shorter"),
    pytest.param({"authorization": f"Basic {TOKEN}"}, "the call's authorization is no bearer token", id="basic"),
    pytest.param({"authorization": "Bearer"}, "the call's authorization is no bearer token", id="empty"),
]


@pytest.mark.parametrize(("headers", "sentence"), WRONG)
def test_without_the_token_nothing_is_told(locked, headers, sentence):
    """The three protocols all say Unauthenticated, why, and what to do; no answer holds the token."""
    reply = post(locked, "GetRun", b"{}", JSON | headers)
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert (reply.json()["code"], reply.json()["message"]) == ("unauthenticated", sentence)
    assert "AKKA_TRAINER_TOKEN" in reply.json()["details"][0]["debug"]["hint"]
    assert TOKEN not in reply.text

    web = post(locked, "GetRun", framed(b""), WEB | headers)
    assert (web.status_code, web.headers["grpc-status"], web.headers["grpc-message"]) == (200, "16", sentence)
    assert web.headers["akka-error-bin"]

    with grpc.insecure_channel(locked) as channel, pytest.raises(grpc.RpcError) as caught:
        call(channel, tuple(headers.items()))
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.UNAUTHENTICATED, sentence)
    detail = dict(caught.value.trailing_metadata())["akka-error-bin"]
    assert "AKKA_TRAINER_TOKEN" in pb.ErrorDetail.FromString(detail).hint


def test_streams_need_the_token_as_well(locked):
    """A Connect stream reads the refusal as its last message."""
    reply = post(locked, "GetRunLog", framed(b"{}"), {"content-type": "application/connect+json"})
    assert reply.status_code == 200
    assert b'"code": "unauthenticated"' in reply.content


def test_with_the_token_everything_is(locked):
    """The scheme's name is written in any case."""
    assert post(locked, "GetRun", b"{}", JSON | {"authorization": f"bearer {TOKEN}"}).status_code == 200
    with grpc.insecure_channel(locked) as channel:
        assert call(channel, (("authorization", f"Bearer {TOKEN}"),)).run_id == "a"
    assert get(locked, "/metrics", {"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_what_needs_no_token(locked):
    """Health and the page that says what this is; not the metrics, not reflection."""
    assert post(locked, "/grpc.health.v1.Health/Check").json() == {"status": "SERVING"}
    assert get(locked, "/").status_code == 200
    assert get(locked, "/metrics").status_code == 401
    path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
    assert post(locked, path, framed(b""), WEB).headers["grpc-status"] == "16"


def test_tokens_are_compared_in_constant_time(locked, monkeypatch):
    """The comparison is the library's that takes as long for a near miss as for any."""
    compared = []
    monkeypatch.setattr(guard.hmac, "compare_digest", lambda one, other: compared.append((one, other)) or False)
    assert post(locked, "GetRun", b"{}", JSON | {"authorization": f"Bearer {TOKEN}"}).status_code == 401
    assert compared == [(TOKEN.encode(), TOKEN.encode())]


def test_two_tokens_are_none(locked):
    """A request that brings two leaves open which is meant."""
    twice = [(b"content-type", b"application/json"), *[(b"authorization", f"Bearer {TOKEN}".encode())] * 2]
    assert post(locked, "GetRun", b"{}", twice).status_code == 401
