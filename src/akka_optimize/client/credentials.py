"""The token that tells the trainer who calls: AKKA_TRAINER_TOKEN, then the context's `tokenFile`. Never printed."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from akka_optimize import errors

if TYPE_CHECKING:
    from akka_optimize.client.contexts import Context

VARIABLE = "AKKA_TRAINER_TOKEN"
MOST_BYTES = 1 << 14


def token(context: Context | None, environ: Mapping[str, str], warn: Callable[[str], None]) -> str | None:
    """The token, or None where none is stated; an empty variable counts as unset.

    Warns of a file that others on this machine may read. Raises Unauthenticated for a variable or a file that holds no
    token, and for a file that is missing or cannot be read.
    """
    stated = environ.get(VARIABLE)
    if stated:
        return _checked(stated, VARIABLE)
    if context is None or context.token_file is None:
        return None
    return _from_file(context.token_file, context.source, warn)


def _from_file(file: Path, source: str, warn: Callable[[str], None]) -> str:
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            _refuse(f"{file}: no regular file, where the token of the {source} belongs")
        if found.st_size > MOST_BYTES:
            _refuse(f"{file}: too large for the token of the {source}")
        content = file.read_bytes()
    except FileNotFoundError:
        _refuse(f"{file}: no such file, where the token of the {source} belongs")
    except OSError as error:
        _refuse(f"{file}: the token of the {source} cannot be read: {error.strerror}")
    text = _checked(content.decode("ascii", "replace"), str(file))
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        warn(f"others on this machine may read the token in {file}; chmod 600 keeps it yours")
    return text


def _checked(text: str, source: str) -> str:
    """The token without the blanks and line ends around it. What it is never becomes part of an error."""
    text = text.strip()
    if not text:
        _refuse(f"{source} holds no token")
    if len(text.splitlines()) > 1:
        _refuse(f"{source} holds more than one line, and a token is one")
    if not text.isascii() or not text.isprintable() or " " in text:
        _refuse(f"{source} holds characters that a token cannot have")
    return text


def _refuse(message: str) -> NoReturn:
    raise errors.Unauthenticated(message, hint=f"put the token in that place, alone, or set {VARIABLE}")
