"""What grpc reports when a call fails, as our errors.

An error of the trainer's own carries our trailer, and goes as it came. Anything else was said by the network, or by
somebody on the way: grpc tells its status by a word, and the cause only in the details, for people to read. So `CAUSES`
looks for what people would look for; where grpc changes its words, the plain sentence of the status is what is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from akka_optimize import errors
from akka_optimize.client.transport import told
from akka_optimize.protocol.status import DETAIL_TRAILER, error_of

if TYPE_CHECKING:
    import grpc


IF_TLS = "if it speaks TLS, write https://"
NOT_CONNECTED = ("failed to connect", "errors resolving")  # how details begin when no request has left


@dataclass(frozen=True, slots=True)
class Asked:
    """What was tried: `method` with a request of `size` bytes at `address`; `hint` is for when nobody answers."""

    method: str
    size: int
    address: str
    tls: bool
    hint: str | None


def reason(error: grpc.RpcError, asked: Asked) -> errors.AkkaError:
    """The error that tells why a call failed."""
    name, details = error.code().name, error.details() or ""
    beside: Any = error.trailing_metadata() or ()
    trailers = dict(beside)
    if name == "DEADLINE_EXCEEDED":
        return told.late(asked.address)
    if DETAIL_TRAILER in trailers and not details.startswith("Stream removed"):
        return error_of(name, details or name, trailers[DETAIL_TRAILER])
    told_as = _network(name, details, asked)
    told_as.sent &= not details.startswith(NOT_CONNECTED)
    return told_as


def _network(name: str, details: str, asked: Asked) -> errors.AkkaError:
    for pattern, cause in CAUSES:
        if found := re.search(pattern, details):
            return cause(asked, found)
    match name:
        case "UNAVAILABLE":
            return errors.Unreachable(f"no trainer answers at {asked.address}: {_line(details)}", hint=asked.hint)
        case "UNIMPLEMENTED":
            return told.older(asked.address, asked.method)
        case "CANCELLED":  # by the other side: whoever presses Ctrl-C here gets no answer at all
            return told.cut(asked.address)
    return error_of(name, details or name)


def by_http_status(asked: Asked, status: int) -> errors.AkkaError:
    """What an HTTP status means that came in the place of gRPC's."""
    address = asked.address
    if status in {401, 403, 407}:
        return told.not_allowed(address, status)
    if status == 404:
        return told.older(address, asked.method)
    if status == 413:
        return told.request_too_large(address, asked.size)
    if status in {429, 503}:
        return told.busy(address, status)
    if status in {502, 504}:
        return told.gateway(address, status)
    if 300 <= status < 400:
        return told.moved(address, "")
    if status >= 500:
        return errors.Internal(f"{address} failed to answer (HTTP {status})", hint="its log may say why")
    return told.no_trainer(address, f"it answers HTTP {status}")


def _http1(asked: Asked, found: re.Match[str]) -> errors.AkkaError:
    status = int(found["status"] or 0)
    if status in {502, 503, 504}:
        return told.gateway(asked.address, status)
    error = told.only_http1(asked.address)
    if status == 400 and not asked.tls:  # what a web server says when it is spoken to without TLS
        error.hint = "try https://, or --use-grpc-web"
    return error


def _closed(asked: Asked, _found: re.Match[str]) -> errors.AkkaError:
    return errors.Unreachable(
        f"what listens at {asked.address} closed the connection at once",
        hint="see whether it is the trainer" if asked.tls else IF_TLS,
    )


def _proxy(asked: Asked, found: re.Match[str]) -> errors.AkkaError:
    return errors.Unreachable(
        f"the proxy on the way to {asked.address} refused: HTTP {found['status']}", hint=asked.hint
    )


def _no_status(asked: Asked, _found: re.Match[str]) -> errors.AkkaError:
    return errors.Unreachable(
        f"the answer from {asked.address} ends without a status, as a web page does, or one that was cut",
        hint="if a proxy on the way carries no gRPC, try --use-grpc-web",
    )


Cause = Callable[[Asked, "re.Match[str]"], errors.AkkaError]
CAUSES: tuple[tuple[str, Cause], ...] = (
    (r"Received http2 header with status: (\d+)", lambda asked, found: by_http_status(asked, int(found[1]))),
    (r"HTTP proxy returned response code (?P<status>\d+)", _proxy),
    (
        r"errors resolving|lookup failed|resolution failed",
        lambda asked, _: told.unknown_name(asked.address, asked.hint),
    ),
    (r"Connection refused", lambda asked, _: told.nobody(asked.address, asked.hint)),
    (r"CERTIFICATE_VERIFY_FAILED: (.*)", lambda asked, found: told.by_certificate(asked.address, found[1])),
    (r"Hostname Verification Check failed", lambda asked, _: told.by_certificate(asked.address, "mismatch")),
    (r"WRONG_VERSION_NUMBER|HTTP_REQUEST", lambda asked, _: told.no_tls(asked.address)),
    (r"Tls handshake failed|Ssl handshake failed", lambda asked, _: told.untrusted(asked.address, "TLS failed")),
    (r"selected ALPN property", lambda asked, _: told.only_http1(asked.address)),
    (r"failed to connect.*Failed parsing HTTP/2.*?(?:HTTP status (?P<status>\d+)|$)", _http1),
    (r"failed to connect.*(?:recvmsg|Socket closed|reset by peer|Broken pipe)", _closed),
    (r"(?<!SERVER: )Received message larger than max", lambda asked, _: told.too_large(asked.address)),
    (r"END_STREAM flag received", _no_status),
    (r"metadata size exceeds", lambda asked, _: told.garbled(asked.address, "its head is too long")),
    (r"Error parsing '|Failed parsing HTTP/2", lambda asked, _: told.garbled(asked.address, "it is no HTTP/2")),
    (
        r"RST_STREAM|GOAWAY|[Ss]ocket closed|recvmsg|sendmsg|reset by peer|Broken pipe|[Kk]eepalive|"
        r"(?:ping|settings) timeout|Connection closed|Transport closed",
        lambda asked, _: told.cut(asked.address),
    ),
)


def _line(details: str) -> str:
    """The details of somebody that we do not know, as one short line."""
    line = " ".join(details.split())
    return line if len(line) <= 200 else f"{line[:199]}…"
