"""Where the services are.

The trainer: `--trainer-url`, TRAINER_URL, AKKA_OPTIMIZE_URL, the context, http://localhost:9001. The Optimize service:
`--url`, OPTIMIZE_URL, the context, http://localhost:9010.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akka_optimize import errors

if TYPE_CHECKING:
    from akka_optimize.client.contexts import Context

DEFAULT = "http://localhost:9001"
OPTIMIZE_DEFAULT = "http://localhost:9010"
VARIABLES = ("TRAINER_URL", "AKKA_OPTIMIZE_URL")
OPTIMIZE_VARIABLES = ("OPTIMIZE_URL",)
BY_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Address:
    """An address as written, where it came from, and what it means: a folder (`local:`), or a host with a port."""

    text: str
    source: str
    folder: str | None = None  # "" = the default one
    host: str | None = None
    tls: bool = False


def named_trainer(flag: str | None, environ: Mapping[str, str]) -> Address | None:
    """The trainer's address where one was typed or is in the environment; an empty variable counts as unset.

    Raises WrongUsage for an address of no known form.
    """
    return _named(flag, "--trainer-url", environ, VARIABLES)


def trainer_address(flag: str | None, environ: Mapping[str, str], context: Context | None = None) -> Address:
    """The trainer's address that holds, by the order above. Raises WrongUsage."""
    found = named_trainer(flag, environ)
    return found or _stated(context.trainer_url if context else None, context, DEFAULT)


def named_optimize(flag: str | None, environ: Mapping[str, str]) -> Address | None:
    """The Optimize service's address where one was typed or is in the environment. Raises WrongUsage."""
    return _named(flag, "--url", environ, OPTIMIZE_VARIABLES, remote=True)


def optimize_address(flag: str | None, environ: Mapping[str, str], context: Context | None = None) -> Address:
    """The Optimize service's address that holds, by the order above. Raises WrongUsage: also for `local:`."""
    found = named_optimize(flag, environ)
    return found or _stated(context.optimize_url if context else None, context, OPTIMIZE_DEFAULT, remote=True)


def _named(
    flag: str | None, option: str, environ: Mapping[str, str], variables: tuple[str, ...], *, remote: bool = False
) -> Address | None:
    if flag is not None:
        return parse(flag, source=option, remote=remote)
    for variable in variables:
        if environ.get(variable):
            return parse(environ[variable], source=variable, remote=remote)
    return None


def _stated(text: str | None, context: Context | None, default: str, *, remote: bool = False) -> Address:
    if text is None or context is None:
        return parse(default, source=BY_DEFAULT, remote=remote)
    return parse(text, source=context.source, remote=remote)


def parse(text: str, *, source: str, remote: bool = False) -> Address:
    """Read one address, of the trainer, or of a service that is never in this process. Raises WrongUsage."""
    from urllib.parse import urlsplit

    require_utf8(source, text)
    if text.startswith("local:") and not remote:
        folder = text.removeprefix("local:")
        if "\0" in folder:
            raise _wrong(text, source, remote)
        return Address(text, source, folder=folder)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _wrong(text, source, remote) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise _wrong(text, source, remote)
    if parts.username or parts.password or parts.query or parts.fragment or parts.path not in {"", "/"}:
        raise _wrong(text, source, remote)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    tls = parts.scheme == "https"
    return Address(text, source, host=f"{host}:{port or (443 if tls else 80)}", tls=tls)


def require_utf8(what: str, text: str) -> None:
    """Raise WrongUsage when `text`, which came from the system, holds bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise errors.WrongUsage(f"{what}: {text!r} is not UTF-8") from None


def _wrong(text: str, source: str, remote: bool) -> errors.WrongUsage:
    if remote:
        return errors.WrongUsage(
            f"{source}: {text!r} is no address of the Optimize service",
            hint="write http://HOST:PORT or https://HOST:PORT",
        )
    return errors.WrongUsage(
        f"{source}: {text!r} is no trainer address",
        hint="write http://HOST:PORT, https://HOST:PORT, local: or local:FOLDER",
    )
