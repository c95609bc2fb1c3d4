"""One deadline for all that may wait."""

from __future__ import annotations

import ssl

import httpcore
import pytest
import trustme
from support.scripted import frame, raw, response, scripted, trailers

from akka_optimize import errors
from akka_optimize.client.transport.bounded import BoundedBackend, BoundedStream, Deadline
from akka_optimize.client.transport.web import WebTransport
from akka_optimize.protocol import trainer_pb2 as pb

WHOLE = response(frame(pb.Run(run_id="a").SerializeToString()) + trailers())


class Clock:
    """Time that goes on when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Recorder(httpcore.NetworkStream):
    """A connection on which each step takes a second; notes how long each was allowed to take."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.allowed = clock, []

    def read(self, max_bytes, timeout=None):
        self.allowed.append(timeout)
        self.clock.now += 1
        return b"x"

    def write(self, buffer, timeout=None):
        self.read(0, timeout)

    def start_tls(self, ssl_context, server_hostname=None, timeout=None):
        self.read(0, timeout)
        return self


def test_each_step_is_allowed_what_is_left():
    """Reading, writing and TLS share one deadline; when it is over, the next step does not begin."""
    clock = Clock()
    recorder, deadline = Recorder(clock), Deadline(4.5, clock)
    stream = BoundedStream(recorder).start_tls(ssl.create_default_context(), timeout=deadline)
    stream.write(bytes(100_000), deadline)
    stream.read(1, deadline)
    stream.read(1, deadline)
    assert recorder.allowed == [4.5, 3.5, 2.5, 1.5, 0.5]
    for step, over in ((stream.read, httpcore.ReadTimeout), (stream.write, httpcore.WriteTimeout)):
        with pytest.raises(over):
            step(b"x" if step == stream.write else 1, deadline)
    assert len(recorder.allowed) == 5


def test_without_a_deadline_nothing_is_bounded():
    """A stream that may last for ever waits for ever."""
    recorder = Recorder(Clock())
    stream = BoundedStream(recorder)
    stream.read(1)
    stream.read(1, 7.0)
    assert recorder.allowed == [None, 7.0]


def test_a_connection_is_not_begun_after_the_deadline():
    """A name with many addresses does not have the time once for each of them."""
    clock = Clock()
    deadline = Deadline(1, clock)
    clock.now += 2
    with pytest.raises(httpcore.ConnectTimeout):
        BoundedBackend().connect_tcp("localhost", 1, deadline)


def test_a_name_that_nobody_has_is_told():
    """No look-up, no trainer."""
    transport = WebTransport("no-such-host.invalid:80", tls=False, address="http://no-such-host.invalid")
    with pytest.raises(errors.Unreachable, match="no such name is known"):
        transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=20)
    transport.close()


def ask(host, **options):
    """One call; the id of the run in the reply."""
    transport = WebTransport(host, address=f"https://{host}", **options)
    try:
        return transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=10).run_id
    finally:
        transport.close()


def test_what_is_not_this_machine_goes_through_the_proxy_of_the_environment(monkeypatch):
    """An HTTP proxy is asked for the whole address, with its credentials; NO_PROXY exempts a name from it."""
    with scripted(WHOLE) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:pass@{server.host}")
        monkeypatch.delenv("REQUEST_METHOD", raising=False)
        assert ask("trainer.invalid:80", tls=False) == "a"
        assert server.requests[0][0][0].startswith("POST http://trainer.invalid/akka.optimize.trainer.v1")
        assert server.header("proxy-authorization") == "Basic bWU6cGFzcw=="
        monkeypatch.setenv("NO_PROXY", "trainer.invalid")
        with pytest.raises(errors.Unreachable, match="no such name"):
            ask("trainer.invalid:80", tls=False)
        assert len(server.requests) == 1


def test_a_proxy_that_refuses_or_is_not_there_is_told_without_its_password(monkeypatch):
    """Whoever has to look at the proxy is told where it is."""
    with scripted(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n") as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@{server.host}")
        with pytest.raises(errors.Unreachable, match=r"the proxy on the way .* refused: HTTP 407") as refused:
            ask("trainer.invalid:443", tls=True)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@127.0.0.1:1")
    with pytest.raises(errors.Unreachable, match="no trainer answers") as absent:
        ask("trainer.invalid:443", tls=True)
    assert "through the proxy at 127.0.0.1:1;" in absent.value.hint
    assert "secret" not in f"{refused.value.hint}{refused.value}{absent.value.hint}{absent.value}"


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def under_tls(authority, *names):
    """What a server does to a connection: TLS under a certificate for these names, then an answer to the request."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)

    def serve(connection):
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.recv(1 << 16)
            secure.sendall(WHOLE)
            secure.unwrap()

    return serve


def test_the_authority_of_a_context_is_trusted_and_no_other(authority, tmp_path):
    """`ca` is trusted; without it the certificate comes from nobody; for another name it is none."""
    own = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(own)
    with raw(under_tls(authority, "127.0.0.1")) as host:
        assert ask(host, tls=True, ca=own) == "a"
        with pytest.raises(errors.Unreachable, match="comes from no authority that is trusted here"):
            ask(host, tls=True)
    told = pytest.raises(errors.Unreachable, match="its certificate is for another name")
    with raw(under_tls(authority, "elsewhere.example")) as host, told:
        ask(host, tls=True, ca=own)


def test_tls_to_what_speaks_none_is_told():
    """https:// where http:// would be right."""
    told = pytest.raises(errors.Unreachable, match="what answers there does not speak TLS")
    with raw(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as host, told:
        ask(host, tls=True)


def test_a_file_of_authorities_that_holds_none_is_wrong_usage(tmp_path):
    """Found before anything is sent."""
    (tmp_path / "ca.pem").write_text("nothing")
    for file in ("ca.pem", "absent.pem"):
        with pytest.raises(errors.WrongUsage, match=f"{file}: holds no certificates"):
            ask("localhost:1", tls=True, ca=tmp_path / file)
