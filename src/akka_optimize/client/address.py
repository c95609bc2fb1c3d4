"""Where the trainer is: `--trainer-url`, TRAINER_URL, AKKA_OPTIMIZE_URL, then http://localhost:9001."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from akka_optimize import errors

DEFAULT = "http://localhost:9001"
VARIABLES = ("TRAINER_URL", "AKKA_OPTIMIZE_URL")


@dataclass(frozen=True, slots=True)
class Address:
    """An address as written, where it came from, and what it means: a folder (`local:`), or a host with a port."""

    text: str
    source: str
    folder: str | None = None  # "" = the default one
    host: str | None = None
    tls: bool = False


def trainer_address(flag: str | None, environ: Mapping[str, str]) -> Address:
    """The address that holds, by the order above; an empty variable counts as unset.

    Raises WrongUsage for an address of no known form.
    """
    if flag is not None:
        return parse(flag, source="--trainer-url")
    for variable in VARIABLES:
        if environ.get(variable):
            return parse(environ[variable], source=variable)
    return parse(DEFAULT, source="default")


def parse(text: str, *, source: str) -> Address:
    """Read one address. Raises WrongUsage."""
    from urllib.parse import urlsplit

    require_utf8(source, text)
    if text == "local:" or text.startswith("local:"):
        folder = text.removeprefix("local:")
        if "\0" in folder:
            raise _wrong(text, source)
        return Address(text, source, folder=folder)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _wrong(text, source) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _wrong(text, source)
    if parts.username or parts.password or parts.query or parts.fragment or parts.path not in {"", "/"}:
        raise _wrong(text, source)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    tls = parts.scheme == "https"
    return Address(text, source, host=f"{host}:{port or (443 if tls else 80)}", tls=tls)


def require_utf8(what: str, text: str) -> None:
    """Raise WrongUsage when `text`, which came from the system, holds bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise errors.WrongUsage(f"{what}: {text!r} is not UTF-8") from None


def _wrong(text: str, source: str) -> errors.WrongUsage:
    return errors.WrongUsage(
        f"{source}: {text!r} is no trainer address",
        hint="write http://HOST:PORT, https://HOST:PORT, local: or local:FOLDER",
    )
