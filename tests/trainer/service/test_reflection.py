"""gRPC's reflection, asked as stock clients do."""

from __future__ import annotations

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from support.answering import PATIENCE_SECONDS, WEB, Answering, framed, post
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb

Request, Response = reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
SERVICES = [SERVICE, "grpc.health.v1.Health"]
SERVICES += ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"]


@pytest.fixture(scope="module")
def channel():
    """A channel to one service."""
    with served(Answering()) as host, grpc.insecure_channel(host) as channel:
        channel.host = host
        yield channel


def test_a_stock_client_finds_every_service(channel):
    """The descriptor database of grpcio lists them."""
    assert sorted(ProtoReflectionDescriptorDatabase(channel).get_services()) == sorted(SERVICES)


def test_a_client_without_generated_code_calls_a_method(channel):
    """It learns request and reply from the service alone, builds one, and reads the other."""
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    service = pool.FindServiceByName(SERVICE)
    assert [method.name for method in service.methods] == [
        method.name for method in pb.DESCRIPTOR.services_by_name["TrainerService"].methods
    ]
    run = service.FindMethodByName("GetRun").output_type
    assert {field.name for field in run.fields} == {field.name for field in pb.Run.DESCRIPTOR.fields}


def test_one_stream_answers_many_questions(channel):
    """Each as it comes, in order; what is not known is an answer as well, and the stream goes on."""
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = [
        Request(list_services=""),
        Request(file_containing_symbol="no.such.Thing"),
        Request(file_containing_symbol=SERVICE),
        Request(file_by_filename="no/such.proto"),
        Request(),
    ]
    replies = list(stub.ServerReflectionInfo(iter(asked), timeout=PATIENCE_SECONDS))
    kinds = [reply.WhichOneof("message_response") for reply in replies]
    assert kinds == [
        *("list_services_response", "error_response", "file_descriptor_response", "error_response", "error_response"),
    ]
    assert replies[1].error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]


def test_the_newer_version_is_there(channel):
    """What newer clients ask for first, over gRPC and over HTTP/1.1."""
    path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
    method = channel.stream_stream(
        path, request_serializer=Request.SerializeToString, response_deserializer=Response.FromString
    )
    (reply,) = method(iter([Request(list_services="")]), timeout=PATIENCE_SECONDS)
    assert sorted(service.name for service in reply.list_services_response.service) == sorted(SERVICES)
    web = post(channel.host, path, framed(Request(list_services="").SerializeToString()), WEB)
    assert SERVICE.encode() in web.content
