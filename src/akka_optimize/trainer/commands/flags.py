"""Options that several commands share, and what all of them print on stderr."""

from __future__ import annotations

import math
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from akka_optimize import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from akka_optimize.trainer.service.asked import Asked

DEFAULT_HOME, DEFAULT_HOST, DEFAULT_PORT = "~/.akka/trainer", "127.0.0.1", 9001


def visible(text: str) -> str:
    """The text in one line, its control characters to be seen and not carried out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def say(sentence: str) -> None:
    """One sentence on stderr, as `visible` has it. A service outlives whoever read there."""
    with suppress(OSError):
        click.echo(visible(sentence), err=True)


def out(text: str | bytes, *, end: bool = True) -> None:
    """Print on stdout, as a line unless told otherwise. Raises Refused (no room), BrokenPipeError (nobody reads)."""
    try:
        click.echo(text, nl=end)
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where the end would write the rest again
        reason = (error.strerror or str(error)).lower()
        raise errors.Refused(f"the output could not be written: {reason}") from error


def warn(sentence: str) -> None:
    """Something that the user should know, and that stops nothing."""
    say(f"Warning: {sentence}")


def folder(text: str) -> Path:
    """The path of a home as typed. Raises WrongUsage (no home folder for `~`, no working directory, no path at all)."""
    return _path("--home", text, "folder")


def _path(flag: str, text: str, kind: str) -> Path:
    if not text or "\0" in text:
        raise errors.WrongUsage(f"{flag}: {text!r} is not the path of a {kind}")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise errors.WrongUsage("there is no home folder for ~", hint=f"name a {kind} with {flag}") from None
    except FileNotFoundError:
        raise errors.WrongUsage(
            f"{flag} {text} is below the working directory, which is there no more", hint="name it by its whole path"
        ) from None


def typed_home(home: Path) -> str:
    """The words that name a home in a command to be typed, with a blank before them; none for the default one."""
    if home == Path(DEFAULT_HOME).expanduser().absolute():
        return ""
    return f" --home {shlex.quote(str(home))}"


class Seconds(click.FloatRange):
    """How long a command waits: 0.1 to 3600 seconds. NaN is in no range, and FloatRange takes it."""

    def __init__(self) -> None:
        super().__init__(0.1, 3600)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that was typed."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return seconds


home_option = click.option(
    "--home", default=DEFAULT_HOME, show_default=True, metavar="DIR", help="The trainer's folder"
)

SERVICE = (
    click.option("--host", default=DEFAULT_HOST, show_default=True, metavar="NAME", help="The address to listen at"),
    click.option(
        "--port",
        default=DEFAULT_PORT,
        show_default=True,
        type=click.IntRange(0, 65535),
        metavar="N",
        help="The port to listen at; 0 is any free one",
    ),
    home_option,
    click.option(
        "--workers",
        type=click.IntRange(1, 64),
        metavar="N",
        help="Runs trained at once, from 1 to 64; remembered  [default: as remembered, else 1]",
    ),
    click.option(
        "--token-file",
        metavar="FILE",
        help="A file with the token that callers have to send  [default: AKKA_TRAINER_TOKEN of the environment]",
    ),
    click.option("--tls-cert", metavar="FILE", help="Serve https with this certificate chain (PEM)"),
    click.option("--tls-key", metavar="FILE", help="The certificate's private key (PEM, not encrypted)"),
    click.option("--allow-host", multiple=True, metavar="NAME", help="Another name that callers may use; repeatable"),
    click.option(
        "--allow-unauthenticated", is_flag=True, help="Let whoever reaches --host start and delete runs without a token"
    ),
)


def service(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a service; see `asked`."""
    for option in reversed(SERVICE):
        function = option(function)
    return function


def asked(home: str, host: str, **others: Any) -> Asked:
    """What these options ask for. Raises WrongUsage."""
    from akka_optimize.trainer.service.asked import Asked

    if not host:
        raise errors.WrongUsage("--host needs a name or an address", hint=f"{DEFAULT_HOST} is this machine alone")
    for name in ("token_file", "tls_cert", "tls_key"):
        if others[name] is not None:
            others[name] = _path(f"--{name.replace('_', '-')}", others[name], "file")
    return Asked(home=folder(home), host=host, **others)
