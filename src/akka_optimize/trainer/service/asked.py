"""What somebody asks a service to be, on the command line and in the environment, and whether that is safe.

Everything is checked before a port is opened.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import files
from akka_optimize.trainer.launch import TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from akka_optimize.trainer.service.options import Options

SHORTEST_TOKEN, LONGEST_TOKEN = 16, 4096  # characters; a header holds no more
WILDCARDS = frozenset({"0.0.0.0", "::"})
OPEN_TO_ALL = 0o007  # permissions of others
MAKE_ONE = "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
CERTIFICATE, KEY, ENCRYPTED = b"-----BEGIN CERTIFICATE-----", b"PRIVATE KEY-----", b"ENCRYPTED"


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of `akka-trainer serve`, as they were written."""

    host: str
    port: int
    home: Path
    workers: int | None = None
    token_file: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    allow_host: tuple[str, ...] = ()
    allow_unauthenticated: bool = False

    def argv(self) -> list[str]:
        """The same options again, for a process whose folder is another one. No token is among them."""
        paths = {"--home": self.home, "--token-file": self.token_file}
        paths |= {"--tls-cert": self.tls_cert, "--tls-key": self.tls_key}
        words = ["--host", self.host, "--port", str(self.port)]
        words += [] if self.workers is None else ["--workers", str(self.workers)]
        for flag, path in paths.items():
            words += [] if path is None else [flag, str(path.absolute())]
        for name in self.allow_host:
            words += ["--allow-host", name]
        return [*words, *["--allow-unauthenticated"][: self.allow_unauthenticated]]


def options(asked: Asked, environ: Mapping[str, str], warn: Callable[[str], None]) -> Options:
    """What holds, from the command line and the environment.

    Raises WrongUsage (options that contradict each other), Refused (a token or a certificate that cannot be used; an
    address that others reach, without a token).
    """
    from akka_optimize.trainer.service.options import Options

    secret = token(asked.token_file, environ, warn)
    check_tls(asked.tls_cert, asked.tls_key)
    if not is_loopback(asked.host):
        if secret is None and not asked.allow_unauthenticated:
            raise errors.Refused(
                f"others can reach {asked.host}, and without a token every one of them may start and delete runs",
                hint=f"name a token with --token-file or {TOKEN_VARIABLE}, or say --allow-unauthenticated",
            )
        if secret is not None and asked.tls_cert is None:
            warn(
                f"no --tls-cert: calls to {asked.host} can be read on their way, and akka-optimize sends its token "
                "over plain http to this machine alone; put a proxy with TLS before it, or name a certificate"
            )
    named = {asked.host} - WILDCARDS
    return Options(
        token=secret, hosts=frozenset({*asked.allow_host, *named}), tls_cert=asked.tls_cert, tls_key=asked.tls_key
    )


def token(path: Path | None, environ: Mapping[str, str], warn: Callable[[str], None]) -> str | None:
    """The token that callers have to know; the file beats the environment. Raises Refused; no message holds it."""
    if path is None:
        stated = environ.get(TOKEN_VARIABLE)
        return None if stated is None else _sound(stated.strip("\r\n"), TOKEN_VARIABLE)
    try:
        text, mode = path.read_bytes(), path.stat().st_mode
    except OSError as error:
        raise errors.Refused(
            f"the token file {path} cannot be read: {(error.strerror or str(error)).lower()}", hint=MAKE_ONE
        ) from error
    if stat.S_IMODE(mode) & OPEN_TO_ALL:
        warn(f"everybody on this machine may read the token file {path}; chmod 600 closes it")
    return _sound(text.decode("utf-8", "replace").strip("\r\n"), f"the token file {path}")


def _sound(text: str, source: str) -> str:
    if not text.strip():
        raise errors.Refused(f"{source} holds no token", hint=MAKE_ONE)
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise errors.Refused(
            f"{source} does not hold a token: a token is one word of letters, digits and signs", hint=MAKE_ONE
        )
    if not SHORTEST_TOKEN <= len(text) <= LONGEST_TOKEN:
        raise errors.Refused(
            f"the token in {source.removeprefix('the token file ')} has {len(text)} characters, "
            f"and {SHORTEST_TOKEN} to {LONGEST_TOKEN} are allowed",
            hint=MAKE_ONE,
        )
    return text


def is_loopback(host: str) -> bool:
    """Does nobody but this machine reach the address, or every address that the name has?"""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise errors.Refused(
            f"{host!r} is no address of this machine, and no name that it knows", hint="name another with --host"
        ) from error
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in found)


def check_tls(cert: Path | None, key: Path | None) -> None:
    """Raise WrongUsage unless both or neither are there, Refused where they cannot be used together."""
    if cert is None and key is None:
        return
    if cert is None or key is None:
        there, missing = ("--tls-key", "--tls-cert") if cert is None else ("--tls-cert", "--tls-key")
        raise errors.WrongUsage(f"{there} needs {missing} beside it", field=missing)
    chain, secret = _read(cert), _read(key)
    if CERTIFICATE not in chain:
        raise errors.Refused(f"--tls-cert: {cert} holds no certificate in PEM form")
    if KEY not in secret:
        raise errors.Refused(f"--tls-key: {key} holds no private key in PEM form")
    if ENCRYPTED in secret:
        raise errors.Refused(
            f"--tls-key: {key} is encrypted, and a service has nobody to ask for the password",
            hint="openssl pkey -in KEY -out PLAIN writes one that is not; keep it with mode 600",
        )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: b"")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise errors.Refused(f"--tls-key: {key} is not the key of the certificate in {cert}") from error
        raise errors.Refused(
            f"the certificate {cert} and the key {key} cannot be used: {(error.reason or str(error)).lower()}"
        ) from error


def _read(path: Path) -> bytes:
    with files.translated(path):
        return path.read_bytes()
