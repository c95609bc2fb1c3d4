"""Any servicer behind a real gRPC port, for tests."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc

from akka_optimize import errors
from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.protocol.status import DETAIL_TRAILER, status_of

METHODS = pb.DESCRIPTOR.services_by_name["TrainerService"].methods


@contextmanager
def served(servicer: object) -> Iterator[str]:
    """Serve on a free loopback port; yields host:port."""
    server = grpc.server(ThreadPoolExecutor(4))
    handlers = {method.name: _handler(servicer, method) for method in METHODS if hasattr(servicer, method.name)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def _handler(servicer, method):
    function = getattr(servicer, method.name)
    request = getattr(pb, method.input_type.name)

    def abort(context, error):
        name, message, detail = status_of(error)
        context.set_trailing_metadata(((DETAIL_TRAILER, detail),))
        context.abort(grpc.StatusCode[name], message)

    def unary(message, context):
        try:
            return function(message, context)
        except errors.AkkaError as error:
            return abort(context, error)

    def stream(message, context):
        try:
            yield from function(message, context)
        except errors.AkkaError as error:
            abort(context, error)

    if inspect.isgeneratorfunction(function):
        make, behaviour = grpc.unary_stream_rpc_method_handler, stream
    else:
        make, behaviour = grpc.unary_unary_rpc_method_handler, unary
    return make(behaviour, request_deserializer=request.FromString, response_serializer=lambda m: m.SerializeToString())
