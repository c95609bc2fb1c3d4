"""A submission whose reply is missing: it may have arrived, and its token is the way to find out."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from akka_optimize.core import texts
from akka_optimize.core.problems import quoted
from akka_optimize.errors import Interrupted, TimedOut, Unreachable, WrongUsage


@contextmanager
def outcome(again: str) -> Iterator[None]:
    """The block submits something. When nobody can say whether it arrived, the error's hint is `again`.

    Raises Unreachable and TimedOut as they come, with that hint unless it is certain that nothing was sent; Interrupted
    for Ctrl-C.
    """
    try:
        yield
    except (Unreachable, TimedOut) as error:
        if not error.sent:
            raise
        raise type(error)(error.message, field=error.field, hint=again) from error
    except KeyboardInterrupt:
        raise Interrupted("interrupted while it was submitted", hint=again) from None


def token(given: str | None) -> str:
    """The token of a submission, from --submission-id: the one given, or a new one. Raises WrongUsage."""
    if given is None:
        return secrets.token_hex(16)
    if fault := texts.fault("token", given):
        raise WrongUsage(f"--submission-id: {quoted(given)} {fault}")
    return given


def announced(token: str) -> str:
    """What is said of a token of ours before anything is sent."""
    return f"Submission token {token}: if the reply is lost, the same command with --submission-id {token} finds it"


def children_again(token: str) -> str:
    """How to ask again for children under a token."""
    return f"it may have arrived; the same command with --submission-id {token} starts no child twice"
