"""One port, from its socket to its graceful stop, under the real server in this process."""

from __future__ import annotations

import logging
import socket
import ssl
import threading

import grpc
import httpx
import pytest
import trustme
from support.service import Service, served

from akka_optimize import errors
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.catalog import database
from akka_optimize.trainer.service import server
from akka_optimize.trainer.service.options import Options

PATIENCE_SECONDS = 30.0


class Gated:
    """GetRun answers once the gate is open; WatchRun only waits."""

    def __init__(self):
        self.entered, self.gate = threading.Event(), threading.Event()

    def GetRun(self, request, call):
        self.entered.set()
        self.gate.wait(PATIENCE_SECONDS)
        return pb.Run(run_id=request.run_id)

    def GetInfo(self, request, call):
        return pb.Info(backend="server")

    def WatchRun(self, request, call):
        self.entered.set()
        yield pb.RunEvent(run_id=request.run_id)
        while call.is_active():
            self.gate.wait(0.01)


@pytest.fixture
def running():
    """A server with a gated servicer; the gate opens and the server ends with the test."""
    servicer = Gated()
    running = Service(servicer)
    running.servicer = servicer
    yield running
    servicer.gate.set()
    running.stop()
    running.join()


def unary(channel, method, request, reply):
    """One call, as a stock client makes it, in flight."""
    call = channel.unary_unary(
        f"/{SERVICE}/{method}", request_serializer=type(request).SerializeToString, response_deserializer=reply
    )
    return call.future(request, timeout=PATIENCE_SECONDS)


def test_a_call_in_flight_gets_its_reply(running):
    """The server is told to end while a method is at work: it waits, and the reply arrives; new calls are refused."""
    with grpc.insecure_channel(running.host) as channel:
        call = unary(channel, "GetRun", pb.GetRunRequest(run_id="a"), pb.Run.FromString)
        assert running.servicer.entered.wait(PATIENCE_SECONDS)
        running.stop()
        while not running.serving.stopping:
            pass
        refused = unary(channel, "GetInfo", pb.GetInfoRequest(), pb.Info.FromString)
        assert refused.exception().code() == grpc.StatusCode.UNAVAILABLE
        assert refused.exception().details() == "the trainer is stopping"
        running.servicer.gate.set()
        assert call.result().run_id == "a"
    running.join()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(running.host.split(":"))


def test_a_stream_that_waits_ends_at_once(running):
    """Who follows a run is told at the stop, and not at the end of the grace, that the service ends."""
    with grpc.insecure_channel(running.host) as channel:
        call = channel.unary_stream(
            f"/{SERVICE}/WatchRun",
            request_serializer=pb.WatchRunRequest.SerializeToString,
            response_deserializer=pb.RunEvent.FromString,
        )
        events = call(pb.WatchRunRequest(run_id="a"), timeout=PATIENCE_SECONDS)
        assert next(events).run_id == "a"
        running.stop()
        with pytest.raises(grpc.RpcError) as caught:
            next(events)
    assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    assert caught.value.details() == "the trainer is stopping"


def test_the_grace_has_an_end(caplog):
    """A call that does not end in time is cut off, and the server ends all the same."""
    servicer = Gated()
    running = Service(servicer, options=Options(grace=0.05))
    with grpc.insecure_channel(running.host) as channel:
        call = unary(channel, "GetRun", pb.GetRunRequest(run_id="a"), pb.Run.FromString)
        assert servicer.entered.wait(PATIENCE_SECONDS)
        running.stop()
        running.thread.join(PATIENCE_SECONDS)
        assert running.serving.active == 1
        assert call.exception().code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
        servicer.gate.set()
    running.join()


GARBAGE = [
    pytest.param(b"\x16\x03\x01\x02\x00" + bytes(200), id="a-tls-greeting"),
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 300, id="http2-then-garbage"),
    pytest.param(bytes(1000), id="zeros"),
    pytest.param(b"POST /x HTTP/1.1\r\nContent-Length: nope\r\n\r\n", id="a-length-that-is-none"),
    pytest.param(b"GET / HTTP/1.1\r\n" + b"x: " + b"y" * 100_000, id="an-endless-header"),
    pytest.param(b"", id="nothing"),
]


@pytest.fixture(scope="module")
def port():
    """One server for all garbage."""
    with served(Gated()) as host:
        yield host.split(":")


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_is_no_fault_of_ours(port, garbage, capfd, caplog):
    """Nothing is printed, nothing is logged as an error, and the next caller is answered."""
    with socket.create_connection(port, timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(garbage)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass
    answer = httpx.post(f"http://{':'.join(port)}/{SERVICE}/GetInfo", json={}, trust_env=False)
    assert answer.json()["backend"] == "server"
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """An authority, and a certificate of it for this machine, as files."""
    folder, authority = tmp_path_factory.mktemp("tls"), trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    for number, blob in enumerate(issued.cert_chain_pems):
        blob.write_to_path(folder / "cert.pem", append=number > 0)
    issued.private_key_pem.write_to_path(folder / "key.pem")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    return folder


def test_https(certificates, capfd, caplog):
    """Both protocols under one certificate; who does not trust it, or speaks plain http, is no fault of ours."""
    options = Options(tls_cert=certificates / "cert.pem", tls_key=certificates / "key.pem")
    with served(Gated(), options=options) as host:
        trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
        with httpx.Client(verify=trusted, trust_env=False) as client:
            url = f"https://{host}/{SERVICE}/GetInfo"
            assert client.post(url, json={}).json()["backend"] == "server"
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.post(url, json={}, trust_env=False)
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(f"http://{host}/{SERVICE}/GetInfo", json={}, trust_env=False)
        credentials = grpc.ssl_channel_credentials((certificates / "ca.pem").read_bytes())
        with grpc.secure_channel(host, credentials) as channel:
            assert unary(channel, "GetInfo", pb.GetInfoRequest(), pb.Info.FromString).result().backend == "server"
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    ("host", "port", "says", "hint"),
    [
        pytest.param("nowhere.invalid", 0, "nowhere.invalid is no address of this machine", "--host", id="no-name"),
        pytest.param("x" * 300, 0, "is no address of this machine", "--host", id="a-name-too-long"),
        pytest.param("192.0.2.1", 0, "cannot listen on port 0 of 192.0.2.1", "--host", id="another-machines"),
    ],
)
def test_an_address_that_cannot_be_had(host, port, says, hint):
    """One sentence with the address, and the option to change."""
    with pytest.raises(errors.Refused, match=says) as caught:
        server.listen(host, port)
    assert hint in caught.value.hint


def test_a_port_that_is_taken():
    """The sentence names it, the hint another one."""
    with server.listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(errors.Refused, match=f"port {port} of 127.0.0.1: address already in use") as caught:
            server.listen("127.0.0.1", port)
    assert "--port" in caught.value.hint


def test_a_port_that_is_not_ours(monkeypatch):
    """A user who may not have it is told from where on ports are free to have."""

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(errors.Refused, match="this user may not listen on port 443") as caught:
        server.listen("127.0.0.1", 443)
    assert "1024" in caught.value.hint


def test_the_address_that_clients_are_told():
    """The real port; for every address of the machine, its own; brackets around a long one."""
    with server.listen("0.0.0.0", 0) as every:
        assert server.url(every, tls=False) == f"http://127.0.0.1:{every.getsockname()[1]}"
    with server.listen("localhost", 0) as local:
        assert server.url(local, tls=True) == f"https://127.0.0.1:{local.getsockname()[1]}"
    if socket.has_ipv6:
        with server.listen("::1", 0) as long:
            assert server.url(long, tls=False).startswith("http://[::1]:")


def test_no_thread_waits_for_a_connection():
    """The catalog has a connection for every thread that answers calls, and for those beside them."""
    assert database.CONNECTIONS > server.THREADS
