"""What a user is told of each thing that may be at an address instead of a trainer: one sentence, and no other."""

from __future__ import annotations

import datetime
import struct
from contextlib import closing
from pathlib import Path

import pytest
import trustme
from support.peers import EMPTY, GRPC, OK, close, drain, failing, http1, http2, peer, replying, reset, says, tls, unused
from support.peers import SETTINGS as SETTINGS_FRAME

from akka_optimize import errors
from akka_optimize.client.transport import told
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.protocol import trainer_pb2 as pb

PAGE = b"<html>sorry</html>"
HTML = ("content-type", "text/html")
HTTP1_ONLY = r"what answers at ADDRESS does not speak HTTP/2"
UNTRUSTED = r"no safe connection to ADDRESS: "


def failure(host: str, *, scheme: str = "http", timeout: float = 5, **options: object) -> tuple[errors.AkkaError, str]:
    """The error that a call ends with, and the address that it was made at."""
    address = f"{scheme}://{host}"
    with (
        closing(GrpcTransport(host, tls=scheme == "https", address=address, hint="a hint", **options)) as transport,
        pytest.raises(errors.AkkaError) as caught,
    ):
        transport.unary("GetInfo", pb.GetInfoRequest(), pb.Info, timeout=timeout)
    return caught.value, address


def shown(error: errors.AkkaError, address: str) -> str:
    """The sentence, with the address taken out."""
    assert "\n" not in error.message
    return error.message.replace(address, "ADDRESS")


WORDS = [
    ("closed at once", close, errors.Unreachable, "what listens at ADDRESS closed the connection at once"),
    ("reset at once", reset, errors.Unreachable, "what listens at ADDRESS closed the connection at once"),
    ("a web server", http1("200 OK"), errors.Unreachable, HTTP1_ONLY),
    ("a web server that refuses", http1("400 Bad Request"), errors.Unreachable, HTTP1_ONLY),
    (
        "a web gateway with nothing behind",
        http1("502 Bad Gateway"),
        errors.Unreachable,
        "the gateway at ADDRESS answers, but it reaches no trainer behind it (HTTP 502)",
    ),
    ("no HTTP at all", says(b"\xff" * 300), errors.Unreachable, HTTP1_ONLY),
    (
        "HTTP/2 that turns to garbage",
        says(SETTINGS_FRAME + b"\xff" * 300),
        errors.Internal,
        "the answer from ADDRESS makes no sense: it is no HTTP/2",
    ),
    (
        "a page over HTTP/2",
        http2(((":status", "200"), HTML), PAGE),
        errors.Unreachable,
        "the answer from ADDRESS ends without a status, as a web page does, or one that was cut",
    ),
    ("a stream refused", http2(then="refuse"), errors.Unreachable, told.cut("ADDRESS").message),
    ("a stream reset", http2(GRPC, EMPTY[:3], then="reset"), errors.Unreachable, told.cut("ADDRESS").message),
    ("a connection cut", http2(GRPC, EMPTY[:3], then="cut"), errors.Unreachable, told.cut("ADDRESS").message),
    ("no protobuf", replying(b"abc"), errors.Internal, "the answer from ADDRESS makes no sense: it is no Info"),
    (
        "not even framed",
        http2(GRPC, b"garbage, and more of it", OK),
        errors.Internal,
        "the answer from ADDRESS makes no sense: it is no Info",
    ),
    ("a status of its own", failing(77, "odd"), errors.Internal, "odd"),
    ("a method missing", failing(12), errors.Unsupported, told.older("ADDRESS", "GetInfo").message),
    ("cancelled on the way", failing(1, "no"), errors.Unreachable, told.cut("ADDRESS").message),
    (
        "unavailable, in a proxy's words",
        failing(14, "upstream  connect\n error"),
        errors.Unreachable,
        "no trainer answers at ADDRESS: upstream connect error",
    ),
]


@pytest.mark.parametrize(("handle", "kind", "sentence"), [row[1:] for row in WORDS], ids=[row[0] for row in WORDS])
def test_every_fault_has_its_sentence(handle, kind, sentence):
    """Whatever answers, the user reads what it is and where, in words of ours."""
    with peer(handle) as host:
        error, address = failure(host)
    assert (type(error), shown(error, address)) == (kind, sentence)


@pytest.mark.parametrize(
    ("handle", "sent"),
    [(close, False), (http1("502 Bad Gateway"), False), (http2(then="refuse"), True), (failing(14, "proxy"), True)],
    ids=["closed at once", "no HTTP/2", "a stream refused", "unavailable, in a proxy's words"],
)
def test_whether_anything_was_sent(handle, sent):
    """Before there is a connection nothing has left; after that nobody knows what was carried out."""
    with peer(handle) as host:
        error, _ = failure(host)
    assert error.sent is sent


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, told.not_allowed("ADDRESS", 401)),
        (403, told.not_allowed("ADDRESS", 403)),
        (404, told.older("ADDRESS", "GetInfo")),
        (413, told.request_too_large("ADDRESS", 0)),
        (429, told.busy("ADDRESS", 429)),
        (418, told.no_trainer("ADDRESS", "it answers HTTP 418")),
        (500, errors.Internal("ADDRESS failed to answer (HTTP 500)")),
        (502, told.gateway("ADDRESS", 502)),
        (503, told.busy("ADDRESS", 503)),
        (504, told.gateway("ADDRESS", 504)),
        (302, told.moved("ADDRESS", "")),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_an_http_status_in_the_place_of_grpcs(status, expected):
    """A gateway that speaks HTTP/2 and no gRPC is understood by its status: who may not, nobody behind it, too busy."""
    with peer(http2(((":status", str(status)), HTML), PAGE)) as host:
        error, address = failure(host)
    assert (type(error), shown(error, address), error.exit_code) == (
        type(expected),
        expected.message,
        expected.exit_code,
    )


def test_nobody_listens():
    """A refused connection is told with the hint that came with the address, at once."""
    error, address = failure(unused())
    assert (type(error), shown(error, address), error.hint) == (
        errors.Unreachable,
        "no trainer answers at ADDRESS",
        "a hint",
    )


def test_a_name_that_nobody_knows():
    """A typing error in the host's name is told apart from a trainer that is down."""
    error, address = failure("no-such-host.invalid:9001")
    assert (type(error), shown(error, address)) == (
        errors.Unreachable,
        "no trainer answers at ADDRESS: no such name is known",
    )


@pytest.mark.parametrize("handle", [drain, says(SETTINGS_FRAME)], ids=["accepts only", "greets only"])
def test_a_server_that_never_answers(handle):
    """The time runs out, and that is what is told."""
    with peer(handle) as host:
        error, address = failure(host, timeout=0.3)
    assert (type(error), shown(error, address)) == (errors.TimedOut, "the trainer at ADDRESS did not answer in time")


def test_a_reply_over_the_limit():
    """A reply of more than 64 MiB is refused by its announced length, before it is there."""
    announced = b"\0" + struct.pack(">I", told.MOST_REPLY_BYTES + 1)
    with peer(http2(GRPC, announced + b"abc", OK)) as host:
        error, address = failure(host)
    assert (type(error), shown(error, address)) == (
        errors.Exhausted,
        "the reply from ADDRESS is larger than 64 MiB, the most one may be",
    )


@pytest.fixture(scope="module")
def authority():
    """One that the client is told to trust."""
    return trustme.CA()


@pytest.fixture
def ca(authority, tmp_path):
    """The file that names it."""
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return tmp_path / "ca.pem"


INFO = replying(pb.Info(backend="server").SerializeToString())
LONG_AGO, FAR_AHEAD = datetime.datetime(2001, 1, 1), datetime.datetime(2201, 1, 1)


def backend(host: str, *, ca: Path | None = None) -> str:
    """What the trainer under TLS says of itself."""
    with closing(GrpcTransport(host, tls=True, address=f"https://{host}", ca=ca)) as transport:
        return transport.unary("GetInfo", pb.GetInfoRequest(), pb.Info, timeout=5).backend


def test_a_certificate_of_the_contexts_authority_is_trusted(authority, ca):
    """With the context's ca, a trainer under TLS answers like any other."""
    with peer(INFO, context=tls(authority.issue_cert("127.0.0.1"))) as host:
        assert backend(host, ca=ca) == "server"


def test_the_systems_authorities_hold_unless_the_context_names_one(authority, ca, monkeypatch):
    """Without a ca the system's certificates decide, wherever the environment says that they are."""
    monkeypatch.setenv("SSL_CERT_DIR", "/nonexistent")
    with peer(INFO, context=tls(authority.issue_cert("127.0.0.1"))) as host:
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        assert backend(host) == "server"
        monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
        error, address = failure(host, scheme="https")
    assert shown(error, address) == UNTRUSTED + "its certificate comes from no authority that is trusted here"


def test_a_certificate_of_another_authority(ca):
    """An authority that nobody named is not trusted."""
    with peer(INFO, context=tls(trustme.CA().issue_cert("127.0.0.1"))) as host:
        error, address = failure(host, scheme="https", ca=ca)
    assert isinstance(error, errors.Unreachable)
    assert shown(error, address) == UNTRUSTED + "its certificate comes from no authority that is trusted here"


def test_a_certificate_for_another_name(authority, ca):
    """A trusted certificate that names another host does not do."""
    with peer(INFO, context=tls(authority.issue_cert("elsewhere.example"))) as host:
        error, address = failure(host, scheme="https", ca=ca)
    assert isinstance(error, errors.Unreachable)
    assert shown(error, address) == UNTRUSTED + "its certificate is for another name"


@pytest.mark.parametrize(
    ("dates", "words"),
    [
        ({"not_before": LONG_AGO, "not_after": LONG_AGO + datetime.timedelta(1)}, "its certificate has expired"),
        (
            {"not_before": FAR_AHEAD, "not_after": FAR_AHEAD + datetime.timedelta(1)},
            "its certificate is not valid yet, by this machine's clock",
        ),
    ],
    ids=["expired", "not yet valid"],
)
def test_a_certificate_out_of_its_time(authority, ca, dates, words):
    """Too old and too new are told apart."""
    with peer(INFO, context=tls(authority.issue_cert("127.0.0.1", **dates))) as host:
        error, address = failure(host, scheme="https", ca=ca)
    assert isinstance(error, errors.Unreachable)
    assert shown(error, address) == UNTRUSTED + words


@pytest.mark.parametrize("handle", [INFO, http1("400 Bad Request")], ids=["HTTP/2", "HTTP/1.1"])
def test_https_to_a_server_without_tls(ca, handle):
    """An https:// address whose server speaks no TLS is told as that."""
    with peer(handle) as host:
        error, address = failure(host, scheme="https", ca=ca)
    assert isinstance(error, errors.Unreachable)
    assert shown(error, address) == UNTRUSTED + "what answers there does not speak TLS"


def test_https_to_a_server_without_http2(authority, ca):
    """TLS whose server does not agree on HTTP/2 leads to gRPC-Web."""
    with peer(INFO, context=tls(authority.issue_cert("127.0.0.1"), protocols=())) as host:
        error, address = failure(host, scheme="https", ca=ca)
    assert (shown(error, address), error.hint) == (HTTP1_ONLY, "try --use-grpc-web")


def test_plain_http_to_a_server_under_tls(authority):
    """An http:// address whose server waits for TLS says what to write."""
    with peer(INFO, context=tls(authority.issue_cert("127.0.0.1"))) as host:
        error, address = failure(host)
    assert isinstance(error, errors.Unreachable)
    assert shown(error, address) == "what listens at ADDRESS closed the connection at once"
    assert error.hint == "if it speaks TLS, write https://"


def test_plain_http_to_a_web_server_under_tls():
    """A web server that answers so in HTTP/1.1 does not hide that it may be TLS."""
    with peer(http1("400 The plain HTTP request was sent to HTTPS port")) as host:
        error, _ = failure(host)
    assert error.hint == "try https://, or --use-grpc-web"


@pytest.mark.parametrize("content", [None, b"", b"no certificate"], ids=["missing", "empty", "something else"])
def test_a_ca_that_holds_no_certificate(tmp_path: Path, content):
    """The context's ca is looked at before anything is sent."""
    if content is not None:
        (tmp_path / "ca.pem").write_bytes(content)
    with pytest.raises(errors.WrongUsage, match=r"ca\.pem: holds no certificates that can be read"):
        GrpcTransport("127.0.0.1:1", tls=True, address="https://127.0.0.1:1", ca=tmp_path / "ca.pem")
