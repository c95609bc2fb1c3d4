"""gRPC-Web, answer by answer."""

from __future__ import annotations

import base64
import gzip
import socket
import time

import pytest
import trustme
from support.scripted import frame, response, scripted, trailers
from support.service import served
from support.transports import to_web

from akka_optimize import __version__, errors
from akka_optimize.client.transport import told
from akka_optimize.client.transport.web import WebTransport
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service.options import Options

RUN = pb.Run(run_id="a").SerializeToString()
WHOLE = response(frame(RUN) + trailers())
DETAIL = pb.ErrorDetail(field="config.seed", hint="try 7").SerializeToString()


def get_run(answer, *, timeout=5.0, **options):
    """What a client makes of this answer."""
    with scripted(answer) as server, to_web(server.host, **options) as transport:
        return transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=timeout)


def refused(kind, answer, **options):
    """The error that this answer raises."""
    with pytest.raises(kind) as caught:
        get_run(answer, **options)
    assert type(caught.value) is kind
    return caught.value


def test_a_request_is_as_the_protocol_wants_it():
    """Path, framing, kinds, deadline, request id, user agent and token, each in its place."""
    with scripted(WHOLE) as server, to_web(server.host, token="secret") as transport:
        assert transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=2.5).run_id == "a"
        lines, body = server.requests[0]
        assert lines[0] == f"POST /{SERVICE}/GetRun HTTP/1.1"
        assert body == frame(pb.GetRunRequest(run_id="a").SerializeToString())
        names = "content-type", "accept", "grpc-timeout", "user-agent", "authorization", "x-grpc-web"
        assert [server.header(name) for name in names] == [
            "application/grpc-web+proto",
            "application/grpc-web+proto",
            "2500m",
            f"akka-optimize/{__version__}",
            "Bearer secret",
            "1",
        ]
        assert len(bytes.fromhex(server.header("x-request-id"))) == 8


def test_without_a_token_none_is_sent_and_without_a_deadline_none():
    """What is not there is not made up."""
    with scripted(WHOLE) as server, to_web(server.host) as transport:
        assert len([*transport.stream("GetRun", pb.GetRunRequest(), pb.Run, timeout=None)]) == 1
        assert server.header("authorization") is None
        assert server.header("grpc-timeout") is None


@pytest.mark.parametrize("padding", ["", "="], ids=["bare", "padded"])
@pytest.mark.parametrize("place", ["trailers", "headers"])
def test_an_error_is_read_from_trailers_and_from_headers(place, padding):
    """Status, message and detail count, wherever they stand, padded or not."""
    told = {"grpc-status": "9", "grpc-message": "100%25 n%C3%B6", "akka-error-bin": base64.b64encode(DETAIL).decode()}
    told["akka-error-bin"] = told["akka-error-bin"].rstrip("=") + padding * (-len(DETAIL) % 3)
    if place == "headers":
        answer = response(**told)
    else:
        answer = response(frame("".join(f"{key}: {value}\r\n" for key, value in told.items()).encode(), 0x80))
    error = refused(errors.Refused, answer)
    assert (error.message, error.field, error.hint) == ("100% nö", "config.seed", "try 7")


def test_trailers_may_be_written_in_capitals_without_blanks():
    """Names of header lines have no case, and the blank after the colon is optional."""
    error = refused(errors.NotFound, response(frame(b"Grpc-Status:5\r\nGRPC-MESSAGE:gone", 0x80)))
    assert error.message == "gone"


def test_a_detail_that_cannot_be_read_leaves_the_message():
    """A broken detail hides neither the status nor its words."""
    for broken in ("!!!", base64.b64encode(b"\xff\xff\xff").decode(), "A"):
        error = refused(errors.NotFound, response(trailers(5, "grpc-message: gone", f"akka-error-bin: {broken}")))
        assert (error.message, error.hint) == ("gone", None)


@pytest.mark.parametrize("number", [2, 10, 15, 77])
def test_a_status_that_means_nothing_here_is_internal(number):
    """UNKNOWN, ABORTED, DATA_LOSS, and numbers that the protocol does not have."""
    refused(errors.Internal, response(trailers(number)))


REFUSALS = [
    ("401 Unauthorized", errors.Unauthenticated, "does not let this call through"),
    ("403 Forbidden", errors.Unauthenticated, "does not let this call through"),
    ("404 Not Found", errors.Unsupported, "has no GetRun: this trainer is older"),
    ("413 Content Too Large", errors.Exhausted, "takes no request of 8 bytes"),
    ("429 Too Many Requests", errors.Unreachable, "takes no calls at the moment"),
    ("503 Service Unavailable", errors.Unreachable, "takes no calls at the moment"),
    ("502 Bad Gateway", errors.Unreachable, "reaches no trainer behind it"),
    ("504 Gateway Timeout", errors.Unreachable, "reaches no trainer behind it"),
    ("302 Found", errors.Unsupported, "redirects to https://elsewhere/"),
    ("418 Teapot", errors.Unsupported, "is no trainer: it answers HTTP 418"),
    ("500 Oops", errors.Internal, "failed to answer (HTTP 500)"),
    ("200 OK", errors.Unsupported, "is no trainer: it answers with text/html"),
]


@pytest.mark.parametrize(("status", "kind", "words"), REFUSALS, ids=[status for status, *_ in REFUSALS])
def test_an_answer_that_is_not_the_trainers_is_told_in_one_sentence(status, kind, words):
    """Gateways, other servers and redirects are told by what to do about them; their pages are not printed."""
    error = refused(
        kind, response(b"<html>\n<b>502</b>", status=status, kind="text/html", location="https://elsewhere/")
    )
    assert words in error.message
    assert "<" not in error.message
    assert "\n" not in error.message


def test_a_redirect_is_not_followed():
    """The token goes to the address that the user named, and nowhere else."""
    with scripted(WHOLE) as other:
        refused(
            errors.Unsupported, response(status="307 Temporary Redirect", location=f"http://{other.host}/"), token="t"
        )
        assert other.requests == []


CUT = {
    "before the answer": b"",
    "in its head": b"HTTP/1.1 200 OK\r\ncontent-ty",
    "before its first frame": response(),
    "in a prefix": response(frame(RUN)[:3]),
    "in a message": response(frame(RUN)[:-1]),
    "before its trailers": response(frame(RUN)),
    "in its trailers": response(frame(RUN) + trailers()[:-1]),
    "before its length is reached": response(frame(RUN), content_length="999"),
    "between chunks": response(b"8\r\n" + frame(RUN) + b"\r\n", transfer_encoding="chunked"),
}


@pytest.mark.parametrize("answer", CUT.values(), ids=CUT)
def test_an_answer_without_its_end_is_a_cut_connection(answer):
    """A message is no answer until its trailers say that all is well."""
    error = refused(errors.Unreachable, answer)
    assert "was cut before the answer was complete" in error.message


PLAIN_TO_TLS = {
    "closed without a word": b"",
    "a web server's answer": response(b"Client sent an HTTP request to an HTTPS server.", status="400 Bad Request"),
}


@pytest.mark.parametrize("answer", PLAIN_TO_TLS.values(), ids=PLAIN_TO_TLS)
def test_a_port_that_speaks_tls_is_hinted_at(answer):
    """However it takes plain HTTP, the user is told what to write; the answer of a proxy to TLS is another matter."""
    with scripted(answer) as server, to_web(server.host) as transport, pytest.raises(errors.AkkaError) as caught:
        transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=5)
    assert "https://" in caught.value.hint


def test_the_trainers_own_tls_port_is_hinted_at(tmp_path):
    """Plain http:// to the real service behind a certificate."""
    certificate, cert, key = trustme.CA().issue_cert("127.0.0.1"), tmp_path / "cert", tmp_path / "key"
    certificate.cert_chain_pems[0].write_to_path(cert)
    certificate.private_key_pem.write_to_path(key)
    with (
        served(object(), options=Options(tls_cert=cert, tls_key=key)) as host,
        to_web(host) as transport,
        pytest.raises(errors.Unreachable) as caught,
    ):
        transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=5)
    assert caught.value.hint == "try the command again; if it speaks TLS, write https://"


def test_a_cut_after_an_answer_is_no_question_of_tls():
    """Once something was answered over plain HTTP, no https:// is proposed."""
    with scripted(WHOLE, b"") as server, to_web(server.host) as transport:
        transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=5)
        with pytest.raises(errors.Unreachable) as caught:
            transport.unary("GetRun", pb.GetRunRequest(run_id="a"), pb.Run, timeout=5)
    assert caught.value.hint == "try the command again"


def test_what_came_whole_is_delivered_before_a_cut_is_told():
    """A stream yields what it has, and then says that there should have been more."""
    with scripted(response(frame(RUN) * 2 + frame(RUN)[:4])) as server, to_web(server.host) as transport:
        stream = transport.stream("GetRun", pb.GetRunRequest(), pb.Run, timeout=5)
        assert [next(stream).run_id, next(stream).run_id] == ["a", "a"]
        with pytest.raises(errors.Unreachable, match="was cut"):
            next(stream)


GARBLED = {
    "unknown flags": response(frame(RUN, 0x04) + trailers()),
    "no status": response(frame(RUN) + frame(b"a: b\r\n", 0x80)),
    "a status that is no number": response(frame(RUN) + frame(b"grpc-status: ok\r\n", 0x80)),
    "a message of another kind": response(frame(b"\xff\xff") + trailers()),
    "two messages for one": response(frame(RUN) * 2 + trailers()),
    "no message for one": response(trailers()),
    "compressed in no known way": response(frame(RUN, 1) + trailers(), grpc_encoding="snappy"),
    "broken compression": response(frame(RUN, 1) + trailers(), grpc_encoding="gzip"),
    "compression without its end": response(frame(gzip.compress(RUN)[:-9], 1) + trailers(), grpc_encoding="gzip"),
    "a broken body": response(b"no gzip at all", content_encoding="gzip"),
}


@pytest.mark.parametrize("answer", GARBLED.values(), ids=GARBLED)
def test_an_answer_that_breaks_the_protocol_is_internal(answer):
    """Nothing is guessed from an answer that makes no sense."""
    assert "makes no sense" in refused(errors.Internal, answer).message


def test_compressed_messages_are_read():
    """A frame may be compressed, and so may the whole body, whoever did it."""
    framed = frame(gzip.compress(RUN), 1) + frame(gzip.compress(b"grpc-status: 0\r\n"), 0x81)
    assert get_run(response(framed, grpc_encoding="gzip")).run_id == "a"
    assert get_run(response(gzip.compress(frame(RUN) + trailers()), content_encoding="gzip")).run_id == "a"


def test_a_message_over_the_limit_is_exhausted(monkeypatch):
    """The prefix alone tells; nothing that long is read, nor unpacked."""
    assert (
        "larger than 64 MiB"
        in refused(errors.Exhausted, response(b"\0" + (told.MOST_REPLY_BYTES + 1).to_bytes(4, "big"))).message
    )
    monkeypatch.setattr(told, "MOST_REPLY_BYTES", 1000)
    bomb = gzip.compress(bytes(100_000))
    assert len(bomb) < 1000
    refused(errors.Exhausted, response(frame(bomb, 1) + trailers(), grpc_encoding="gzip"))


def trickle(head, piece):
    """Send a byte at a time, for ever, each well before any single read would give up."""

    def send(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(0.02)

    return send


TRICKLES = {
    "head": trickle(b"HTTP/1.1 200 OK\r\nx-long: ", b"x"),
    "a message": trickle(response(frame(bytes(1 << 20))[:5]), b"x"),
    "messages": trickle(response(), frame(RUN)),
    "after the trailers": trickle(response(frame(RUN) + trailers(), content_length="100000"), b"x"),
}


@pytest.mark.parametrize("answer", TRICKLES.values(), ids=TRICKLES)
def test_an_answer_that_never_ends_ends_at_the_deadline(answer):
    """The deadline is one for the whole call, however often something comes."""
    started = time.monotonic()
    if answer is TRICKLES["after the trailers"]:
        assert get_run(answer, timeout=0.3).run_id == "a"  # all was said in time
    else:
        refused(errors.TimedOut, answer, timeout=0.3)
    assert time.monotonic() - started < 1.5


def test_a_connection_is_used_again():
    """Calls in a row share a connection."""

    def twice(connection):
        body = frame(RUN) + trailers()
        whole = response(body, content_length=str(len(body))).replace(b"connection: close\r\n", b"")
        connection.sendall(whole)
        assert connection.recv(1 << 16).startswith(b"POST")
        connection.sendall(whole)

    with scripted(twice, b"") as server, to_web(server.host) as transport:
        for _ in range(2):
            assert transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=5).run_id == "a"


def test_a_server_that_speaks_something_else_is_told():
    """What answers in another protocol, HTTP/2 say, is told apart from a cut."""
    error = refused(
        errors.Unreachable, b"\0\0\x12\x04\0\0\0\0\0\0\x03\x7f\xff\xff\xff\0\x04\0\x10\0\0\0\x06\0\0\x20\0\r\n\r\n"
    )
    assert "does not speak HTTP/1.1" in error.message
    assert error.hint == "try without --use-grpc-web"


@pytest.mark.parametrize("host", ["trainer.example:80", "10.0.0.1:9001", "[fe80::1]:80", "localhost.example:80"])
def test_a_token_never_goes_over_an_open_network(host):
    """Over plain HTTP a token is sent to this machine alone, and the refusal does not repeat it."""
    with pytest.raises(errors.Unauthenticated, match="a token is not sent to") as caught:
        WebTransport(host, tls=False, address=f"http://{host}", token="hush")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("host", ["localhost:80", "127.0.0.1:80", "127.8.9.1:80", "[::1]:80"])
def test_this_machine_may_have_the_token(host):
    """Loopback has no way on which others could read."""
    WebTransport(host, tls=False, address=f"http://{host}", token="hush").close()


@pytest.mark.parametrize("token", ["a b", "a\nb", "grün", "a\0"])
def test_a_token_that_no_header_can_carry_is_refused_unrepeated(token):
    """Line ends and the like are found before anything is sent."""
    with pytest.raises(errors.Unauthenticated, match="characters") as caught:
        WebTransport("localhost:80", tls=False, address="", token=token)
    assert token not in str(caught.value)
