"""How a service in the background tells the command that started it how its start went: one line through a pipe."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from akka_optimize import errors

if TYPE_CHECKING:
    from types import TracebackType

MOST_CHARACTERS = 2000  # of a sentence, which a reader's terminal has no room for either


class Report:
    """The service's end of the pipe, if there is one; what leaves the block by an error of ours is told as well."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        if descriptor is not None:
            os.set_inheritable(descriptor, False)

    def ready(self, address: str) -> None:
        """Calls are answered at this address."""
        self._tell({"address": address})

    def __enter__(self) -> Report:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, errors.AkkaError):
            told = {"error": error.message, "hint": error.hint, "field": error.field}
            short = {name: text and text[:MOST_CHARACTERS] for name, text in told.items()}
            self._tell({**short, "kind": type(error).__name__})

    def _tell(self, word: dict[str, Any]) -> None:
        if self._descriptor is None:
            return
        with suppress(OSError), open(self._descriptor, "wb") as pipe:  # nobody may wait any more
            pipe.write(json.dumps(word).encode() + b"\n")
        self._descriptor = None


def failure(word: dict[str, Any]) -> errors.AkkaError:
    """The error that a service told of, to be raised by the command that started it."""
    kind = getattr(errors, word["kind"], errors.Refused)
    error: errors.AkkaError = kind(word["error"], field=word["field"], hint=word["hint"])
    return error
