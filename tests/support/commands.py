"""Runs one command line in this process, with a client of the test's choice."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest import mock

from akka_optimize.cli.app import App
from akka_optimize.cli.group import CommandGroup
from akka_optimize.cli.main import run
from akka_optimize.cli.settings import Settings

OURS = (
    *("TRAINER_URL", "AKKA_OPTIMIZE_URL", "OPTIMIZE_URL", "AKKA_CONTEXT", "AKKA_TRAINER_TOKEN"),
    *("AKKA_DISABLE_PROMPTS", "NO_COLOR"),
)


@dataclass(frozen=True)
class Outcome:
    """How a command line ended: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


class Clients:
    """A factory that always hands out one client, and remembers what it was asked for."""

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self.asked: list[tuple[str | None, float]] = []

    def __call__(self, settings: Settings, warn: Any) -> Any:
        self.asked.append((settings.trainer_url, settings.timeout))
        return self.client


class RecordingApp(App):
    """An app that keeps what was emitted, beside printing it."""

    def __init__(self, build_trainer: Any) -> None:
        super().__init__(build_trainer)
        self.emitted: list[object] = []

    def emit(self, record: object) -> None:
        """Keep the record, and print it."""
        self.emitted.append(record)
        super().emit(record)


def invoke(
    argv: str | Sequence[str],
    client: Any = None,
    *,
    tree: CommandGroup | None = None,
    environ: dict[str, str] | None = None,
    stdin: str = "",
    app: App | None = None,
) -> Outcome:
    """Carry out a command line (text is split at blanks) against `client`, or against `app`."""
    args = argv.split() if isinstance(argv, str) else [*argv]
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    with (
        mock.patch.dict(os.environ, kept | (environ or {}), clear=True),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
    ):
        code = run(args, app=app or App(client if isinstance(client, Clients) else Clients(client)), tree=tree)
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return Outcome(code, out, err)
