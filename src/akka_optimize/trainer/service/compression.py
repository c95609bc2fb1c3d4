"""gzip for connectrpc: what comes in is expanded up to a limit, what goes out never holds up the event loop long."""

from __future__ import annotations

import gzip
import zlib

from connectrpc.code import Code
from connectrpc.errors import ConnectError

GZIP = 31  # zlib's word for a gzip header and no other
WORTH_IT = 64 << 10  # bytes; what is longer is curves, which hardly get smaller and would take a while
FAST, STORED = 1, 0


class Gzip:
    """gzip, up to `most` bytes of a message."""

    def __init__(self, most: int) -> None:
        self._most = most

    def name(self) -> str:
        """As headers call it."""
        return "gzip"

    def compress(self, data: bytes | bytearray | memoryview) -> bytes:
        """A gzip file of the data; what is long is only wrapped."""
        return gzip.compress(data, FAST if len(data) <= WORTH_IT else STORED, mtime=0)

    def decompress(self, data: bytes | bytearray | memoryview, read_max_bytes: int | None = None) -> bytes:
        """What a gzip file holds. Raises ConnectError: it holds too much, is damaged, or more than one."""
        del read_max_bytes
        if not data:
            return b""
        try:
            return expanded(data, self._most)
        except OverflowError:
            raise ConnectError(Code.RESOURCE_EXHAUSTED, too_large(self._most)) from None
        except (zlib.error, EOFError, ValueError):
            raise ConnectError(Code.INVALID_ARGUMENT, "the request's gzip is damaged") from None


def expanded(data: bytes | bytearray | memoryview, most: int) -> bytes:
    """The content of one gzip file. Raises OverflowError, EOFError (cut off), ValueError (something after it).

    Only one: thousands of empty ones after another would be copied thousands of times.
    """
    work = zlib.decompressobj(GZIP)
    content = work.decompress(data, most + 1)
    if len(content) > most:
        raise OverflowError
    if not work.eof:
        raise EOFError
    if work.unused_data:
        raise ValueError
    return content


def too_large(most: int) -> str:
    """What a caller is told whose message is over the limit."""
    return f"the request's message is larger than {most} bytes, and no more are allowed"
