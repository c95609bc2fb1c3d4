"""Who may ask at all, before anything of a request is looked at but its headers.

A page in somebody's browser may send requests to this machine, even from a name of its own that it lets point here.
Such requests name a foreign host or a foreign origin, so those are refused whether or not a token is needed.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from akka_optimize.trainer.service.refusals import Refusal, header

if TYPE_CHECKING:
    from akka_optimize.trainer.service.options import Options
    from akka_optimize.trainer.service.refusals import Scope

LOOPBACK = "localhost"
HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\[\]:@/\s]+)(?::[0-9]{0,5})?")
BEARER = re.compile(rb"bearer +(.+)", re.IGNORECASE | re.DOTALL)
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
HOW = "set AKKA_TRAINER_TOKEN, or name a tokenFile in the context; curl takes -H 'authorization: Bearer TOKEN'"


class Guard:
    """Holds what requests have to bring along."""

    def __init__(self, options: Options) -> None:
        self._token = None if options.token is None else options.token.encode()
        self._names = {LOOPBACK, socket.gethostname().lower(), *(name.lower() for name in options.hosts)}
        self._fully_qualified: str | None = None
        self._most = options.limits.header_bytes

    async def check(self, scope: Scope, *, secret: bool) -> None:
        """Raise Refusal unless the headers are sound and name us; with `secret`, unless they hold the token as well."""
        self._sound(scope)
        await self._ours(header(scope, b"host"))
        _same_origin(scope)
        if secret:
            self._known(scope)

    def _sound(self, scope: Scope) -> None:
        size = len(scope["raw_path"]) + sum(len(name) + len(value) for name, value in scope["headers"])
        size += len(scope["query_string"])
        if size > self._most:
            raise Refusal(
                "RESOURCE_EXHAUSTED", 431, f"the request's headers are larger than {self._most} bytes together"
            )
        for name, value in scope["headers"]:
            try:
                value.decode()
            except UnicodeDecodeError:
                raise Refusal("INVALID_ARGUMENT", 400, f"the header {name.decode('latin-1')!r} is not UTF-8") from None

    async def _ours(self, host: str) -> None:
        found = HOST.fullmatch(host)
        name = found["name"].lower().rstrip(".") if found else ""
        if not name:
            said = f"the host {host[:100]!r}, which is none" if host else "no host"
            raise Refusal("PERMISSION_DENIED", 421, f"the request names {said}")
        if name in self._names or name.endswith(f".{LOOPBACK}") or _is_address(name):
            return
        if self._fully_qualified is None:  # it may ask a name server, and may take a while
            self._fully_qualified = (await asyncio.to_thread(socket.getfqdn)).lower()
        if name != self._fully_qualified:
            raise Refusal(
                "PERMISSION_DENIED",
                421,
                f"this trainer does not answer as {name[:100]!r}",
                hint="use its address, or start it with --allow-host NAME",
            )

    def _known(self, scope: Scope) -> None:
        if self._token is None:
            return
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        found = BEARER.fullmatch(given[0].strip()) if len(given) == 1 else None
        if not given:
            raise _unauthenticated("this trainer needs a token, and the call came without one")
        if found is None:
            raise _unauthenticated("the call's authorization is no bearer token")
        if not hmac.compare_digest(found[1], self._token):
            raise _unauthenticated("the call's token is not this trainer's")


def _unauthenticated(sentence: str) -> Refusal:
    return Refusal("UNAUTHENTICATED", 401, sentence, hint=HOW, headers=[(b"www-authenticate", b"Bearer")])


def _same_origin(scope: Scope) -> None:
    """Raise Refusal for what a page of another site sends."""
    if header(scope, b"sec-fetch-site").strip().lower() == "cross-site":
        raise _foreign("another site's page")
    origins = [value.decode("latin-1").strip() for name, value in scope["headers"] if name == b"origin"]
    for origin in origins:
        if _host_of(origin, scope) != _without_port(header(scope, b"host").lower(), scope["scheme"]):
            raise _foreign(f"a page of {origin[:100]!r}")


def _host_of(origin: str, scope: Scope) -> str | None:
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return None
    return _without_port(parts.netloc, parts.scheme or scope["scheme"]) or None


def _without_port(host: str, scheme: str) -> str:
    return host.removesuffix(DEFAULT_PORTS.get(scheme, ":443"))


def _foreign(who: str) -> Refusal:
    return Refusal("PERMISSION_DENIED", 403, f"{who} may not call this trainer")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
