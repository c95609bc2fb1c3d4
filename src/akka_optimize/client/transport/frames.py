"""gRPC-Web's framing: messages in frames, and the status in a last frame of its own.

A frame is one byte of flags, four of length (big endian), and so many bytes: a message, or, where the top bit of the
flags is set, the trailers as header lines.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from akka_optimize import errors
from akka_optimize.client.transport import told
from akka_optimize.protocol.status import DETAIL_TRAILER, error_of

if TYPE_CHECKING:
    from collections.abc import Generator

COMPRESSED, TRAILERS = 0x01, 0x80
PREFIX = 5
GZIP = 16 + zlib.MAX_WBITS
# The statuses by number; their order is the protocol's.
STATUSES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"),
    *("INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"),
)


def frame(message: bytes) -> bytes:
    """One uncompressed message, framed."""
    return b"\0" + len(message).to_bytes(4, "big") + message


def timeout_header(seconds: float) -> str:
    """`grpc-timeout`: milliseconds, or whole seconds where those would not fit into its eight digits."""
    milliseconds = max(1, round(seconds * 1000))
    return f"{milliseconds}m" if milliseconds < 10**8 else f"{min(milliseconds // 1000, 10**8 - 1)}S"


def frames(chunks: Iterable[bytes], address: str) -> Iterator[tuple[int, bytes]]:
    """Flags and content of each whole frame, as soon as it is there.

    A body that ends within a frame ends here without it. Raises Exhausted (a frame over the limit).
    """
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= PREFIX:
            size = int.from_bytes(held[1:PREFIX], "big")
            if size > told.MOST_REPLY_BYTES:
                raise told.too_large(address)
            if len(held) < PREFIX + size:
                break
            flags, content = held[0], bytes(held[PREFIX : PREFIX + size])
            del held[: PREFIX + size]
            yield flags, content


def messages(chunks: Iterable[bytes], encoding: str, address: str) -> Generator[bytes, None, errors.AkkaError | None]:
    """Each message as soon as it is whole; returns the error that the trailers tell, or None when all went well.

    Raises Unreachable (no trailers: the connection was cut), Exhausted, Internal (no such framing).
    """
    for flags, content in frames(chunks, address):
        if flags & ~(COMPRESSED | TRAILERS):
            raise told.garbled(address, "it is not framed as gRPC-Web")
        if flags & COMPRESSED:
            content = inflated(content, encoding, address)  # noqa: PLW2901
        if flags & TRAILERS:
            return status_error(trailers(content), address)
        yield content
    raise told.cut(address)


def inflated(content: bytes, encoding: str, address: str) -> bytes:
    """What a compressed frame holds. Raises Internal (broken, or compressed in another way), Exhausted."""
    if encoding != "gzip":
        raise told.garbled(address, f"it is compressed with {encoding or 'nothing that it names'}")
    unpacking = zlib.decompressobj(GZIP)
    try:
        plain = unpacking.decompress(content, told.MOST_REPLY_BYTES + 1)
    except zlib.error:
        raise told.garbled(address, "its compression is broken") from None
    if len(plain) > told.MOST_REPLY_BYTES:
        raise told.too_large(address)
    if not unpacking.eof:
        raise told.garbled(address, "its compression is broken")
    return plain


def trailers(block: bytes) -> dict[str, str]:
    """The trailer frame's lines by their names in lower case; of two by one name the last one counts."""
    lines = (line.partition(b":") for line in block.splitlines())
    return {name.strip().decode("latin-1").lower(): value.strip().decode("latin-1") for name, _, value in lines}


def status_error(told_by: Mapping[str, str], address: str) -> errors.AkkaError | None:
    """The error that `grpc-status` and what goes with it tell; None for success. Raises Internal (no status)."""
    number = told_by.get("grpc-status", "")
    if not number.isascii() or not number.isdigit():
        raise told.garbled(address, "it ends without a status")
    name = STATUSES[int(number)] if int(number) < len(STATUSES) else "UNKNOWN"
    if name == "OK":
        return None
    message = unquote_to_bytes(told_by.get("grpc-message", "")).decode(errors="replace")
    return error_of(name, message or name, _detail(told_by.get(DETAIL_TRAILER, "")))


def _detail(encoded: str) -> bytes | None:
    """Base64, padded or not. What cannot be read is left out, because the message alone is worth telling."""
    from google.protobuf.message import DecodeError

    from akka_optimize.protocol import trainer_pb2 as pb

    try:
        detail = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        pb.ErrorDetail.FromString(detail)
    except (binascii.Error, ValueError, DecodeError):
        return None
    return detail
