"""The standard health service, asked with its own stock stub."""

from __future__ import annotations

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from support.answering import PATIENCE_SECONDS, Answering, post
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.trainer.service import server
from akka_optimize.trainer.service.serving import Starting

Reply = health_pb2.HealthCheckResponse
CHECK = "/grpc.health.v1.Health/Check"


def asked(service=""):
    """A request for one service's health."""
    return health_pb2.HealthCheckRequest(service=service)


@pytest.mark.parametrize("service", ["", SERVICE])
def test_a_service_that_answers_serves(service):
    """For the whole server and for the trainer by its name."""
    with served(Answering()) as host, grpc.insecure_channel(host) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        assert stub.Check(asked(service), timeout=PATIENCE_SECONDS).status == Reply.SERVING


def test_another_service_is_not_found():
    """Check refuses it, and Watch says that it is unknown and waits, as the standard has it."""
    with served(Answering()) as host, grpc.insecure_channel(host) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.Check(asked("other"), timeout=PATIENCE_SECONDS)
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
        watch = stub.Watch(asked("other"), timeout=PATIENCE_SECONDS)
        assert next(watch).status == Reply.SERVICE_UNKNOWN
        watch.cancel()


def test_json_asks_as_well():
    """A readiness loop with curl needs no gRPC."""
    with served(Answering()) as host:
        assert post(host, CHECK).json() == {"status": "SERVING"}


def test_from_the_start_to_the_end(tmp_path, monkeypatch):
    """NOT_SERVING while the home is opened and once the end has begun; a watch sees every change, and then ends."""
    made = []
    real = server.Application

    def noted(serving, *rest):
        made.append(serving)
        return real(serving, *rest)

    monkeypatch.setattr(server, "Application", noted)
    with served(Starting(tmp_path)) as host, grpc.insecure_channel(host) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(asked(), timeout=PATIENCE_SECONDS)
        assert next(watch).status == Reply.NOT_SERVING
        assert post(host, CHECK).json() == {"status": "NOT_SERVING"}
        made[0].servicer = Answering()
        assert next(watch).status == Reply.SERVING
        made[0].stop()
        assert next(watch).status == Reply.NOT_SERVING
        with pytest.raises(grpc.RpcError) as caught:
            next(watch)
        assert caught.value.details() == "the trainer is stopping"
        assert post(host, CHECK).json() == {"status": "NOT_SERVING"}
