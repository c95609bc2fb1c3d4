"""Errors as gRPC statuses, and back. The two tables are written apart and tested against each other.

Statuses go by name, so that nobody has to load grpc to name one.
"""

from __future__ import annotations

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb

DETAIL_TRAILER = "akka-error-bin"
MOST_TEXT = 64 << 10  # characters of a message, or of a hint

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
    detail = pb.ErrorDetail(field=_text(error.field), hint=_text(error.hint))
    return TO_STATUS.get(type(error), "INTERNAL"), _text(error.message), detail.SerializeToString()


def error_of(name: str, message: str, detail: bytes | None = None) -> errors.AkkaError:
    """The error that a status carries; a status without a row of its own is an Internal one.

    A proxy on the way may have written any of it: a detail that cannot be read is left out, and no text is endless.
    """
    from google.protobuf.message import DecodeError

    kind = FROM_STATUS.get(name, errors.Internal)
    try:
        told = pb.ErrorDetail.FromString(detail or b"")
    except DecodeError:
        told = pb.ErrorDetail()
    error = kind(_text(message), field=_text(told.field) or None, hint=_text(told.hint) or None)
    error.sent = detail is None or kind is not errors.Unreachable  # a trainer that starts or stops carries nothing out
    return error


def _text(text: str | None) -> str:
    """The text as the wire can carry it: no half of a surrogate pair, no more than `MOST_TEXT` characters."""
    whole = (text or "").encode(errors="backslashreplace").decode()
    return whole if len(whole) <= MOST_TEXT else f"{whole[: MOST_TEXT - 1]}…"
