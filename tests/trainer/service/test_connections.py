"""HTTP/2 connections that go on whatever one of their calls does; frames are written by hand, as no client does."""

from __future__ import annotations

import logging
import socket

import h2.config
import h2.connection
import h2.events
import pytest
from support.answering import PATIENCE_SECONDS, Answering, framed, get
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import refusals

GRPC = [("content-type", "application/grpc"), ("te", "trailers")]


class Client:
    """One connection, written to frame by frame."""

    def __init__(self, host):
        name, _, port = host.partition(":")
        self.host = host
        self.socket = socket.create_connection((name, int(port)), timeout=PATIENCE_SECONDS)
        config = h2.config.H2Configuration(validate_outbound_headers=False, normalize_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config)
        self.h2.initiate_connection()

    def head(self, method, path=None, headers=GRPC):
        """Begin a call; its number."""
        stream = self.h2.get_next_available_stream_id()
        fixed = [(":method", "POST"), (":scheme", "http"), (":authority", self.host)]
        self.h2.send_headers(stream, [*fixed, (":path", path or f"/{SERVICE}/{method}"), *headers])
        return stream

    def call(self, method, message):
        """A whole call; its number."""
        stream = self.head(method)
        self.h2.send_data(stream, framed(message.SerializeToString()), end_stream=True)
        return stream

    def send(self):
        """Send what was written."""
        self.socket.sendall(self.h2.data_to_send())

    def status_of(self, stream):
        """Read until a call has ended; its gRPC status, or the number it was reset with."""
        self.send()
        while data := self.socket.recv(1 << 16):
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                if getattr(event, "stream_id", None) != stream:
                    continue
                headers = dict(getattr(event, "headers", None) or ())
                if b"grpc-status" in headers:
                    return headers[b"grpc-status"].decode()
                if isinstance(event, h2.events.StreamReset):
                    return int(event.error_code)
            self.send()
        raise AssertionError("the connection ended")


@pytest.fixture
def client(caplog):
    """A connection that is good to the end, and a log without tracebacks."""
    with caplog.at_level(logging.DEBUG), served(Answering()) as host:
        client = Client(host)
        with client.socket:
            yield client
            assert client.status_of(client.call("GetRun", pb.GetRunRequest(run_id="a"))) == "0"
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def test_data_of_a_call_that_was_answered_already(client, monkeypatch):
    """A call is refused by its head; what its sender writes on is for nobody, and other calls go on."""
    monkeypatch.setattr(refusals, "PATIENCE_SECONDS", 0.01)
    stream = client.head("GetRun", path="/nothing", headers=[("content-type", "application/json")])
    client.h2.send_data(stream, bytes(100))
    client.send()
    told = b""
    while b"there is nothing at" not in told:
        told += client.socket.recv(1 << 16)
    for _ in range(30):
        client.h2.send_data(stream, bytes(1000))
    client.h2.send_data(stream, b"", end_stream=True)
    client.send()
    client.h2.receive_data(told)


def test_a_path_that_is_not_ascii(client):
    """Such a call is reset, and no other."""
    stream = client.head("GetRun", path=b"/\xff\xfe")
    assert client.status_of(stream) == 1  # PROTOCOL_ERROR


def test_priorities_without_end(client):
    """They are passed over, whatever they depend on."""
    for stream in range(1, 6001, 2):
        client.h2.prioritize(stream, weight=1, depends_on=stream + 2)
    client.send()


def test_a_reader_who_takes_nothing_and_gives_up(client):
    """Its call ends with it, although its connection stays."""
    stream = client.call("GetRunLog", pb.GetRunLogRequest(run_id="endless"))
    client.send()
    client.socket.recv(1 << 16)
    client.h2.reset_stream(stream)
    client.send()


def test_a_call_without_te(client):
    """Without it no trailers may be sent, so the status comes in the head."""
    stream = client.head("GetRun", headers=GRPC[:1])
    client.h2.send_data(stream, framed(b""), end_stream=True)
    assert client.status_of(stream) == "3"


@pytest.mark.parametrize("settings", ["!!!", "AAA", "AAMAAABkAAQAAP__"])
def test_an_upgrade_from_http_1_1(settings, caplog):
    """With settings that are none it comes to nothing, and to no traceback."""
    with served(Answering()) as host:
        head = f"Host: {host}\r\nConnection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: {settings}\r\n\r\n"
        name, _, port = host.partition(":")
        with socket.create_connection((name, int(port)), timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(f"GET / HTTP/1.1\r\n{head}".encode())
            assert connection.recv(12) == b"HTTP/1.1 101"
        assert get(host, "/").status_code == 200
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
