"""Errors as gRPC statuses, and back. The two tables are written apart and tested against each other.

Statuses go by name, so that nobody has to load grpc to name one.
"""

from __future__ import annotations

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb

DETAIL_TRAILER = "akka-error-bin"

TO_STATUS: dict[type[errors.AkkaError], str] = {
    errors.Invalid: "INVALID_ARGUMENT",
    errors.NotFound: "NOT_FOUND",
    errors.Ambiguous: "OUT_OF_RANGE",
    errors.Conflict: "ALREADY_EXISTS",
    errors.Refused: "FAILED_PRECONDITION",
    errors.Exhausted: "RESOURCE_EXHAUSTED",
    errors.Unsupported: "UNIMPLEMENTED",
    errors.Internal: "INTERNAL",
    errors.Unreachable: "UNAVAILABLE",
    errors.TimedOut: "DEADLINE_EXCEEDED",
    errors.Unauthenticated: "UNAUTHENTICATED",
    errors.Interrupted: "CANCELLED",
}

FROM_STATUS: dict[str, type[errors.AkkaError]] = {
    "INVALID_ARGUMENT": errors.Invalid,
    "NOT_FOUND": errors.NotFound,
    "OUT_OF_RANGE": errors.Ambiguous,
    "ALREADY_EXISTS": errors.Conflict,
    "FAILED_PRECONDITION": errors.Refused,
    "RESOURCE_EXHAUSTED": errors.Exhausted,
    "UNIMPLEMENTED": errors.Unsupported,
    "INTERNAL": errors.Internal,
    "UNAVAILABLE": errors.Unreachable,
    "DEADLINE_EXCEEDED": errors.TimedOut,
    "UNAUTHENTICATED": errors.Unauthenticated,
    "PERMISSION_DENIED": errors.Unauthenticated,
    "CANCELLED": errors.Interrupted,
}


def status_of(error: errors.AkkaError) -> tuple[str, str, bytes]:
    """Name, message and encoded detail of the status that carries `error`."""
    detail = pb.ErrorDetail(field=error.field or "", hint=error.hint or "")
    return TO_STATUS.get(type(error), "INTERNAL"), error.message, detail.SerializeToString()


def error_of(name: str, message: str, detail: bytes | None = None) -> errors.AkkaError:
    """The error that a status carries; a status without a row of its own is an Internal one."""
    kind = FROM_STATUS.get(name, errors.Internal)
    told = pb.ErrorDetail.FromString(detail) if detail else pb.ErrorDetail()
    return kind(message, field=told.field or None, hint=told.hint or None)
