"""The command line on a trainer's home: in this process, or as the processes that a user starts."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from support.commands import OURS, Outcome, invoke
from support.life import row

from akka_optimize.cli.app import App
from akka_optimize.wiring import build_services, build_trainer

PATIENCE_SECONDS = 120.0
SCRIPTS = Path(sys.executable).parent
PROGRAM = str(SCRIPTS / "akka-optimize")
AKKA = [str(SCRIPTS / "akka"), "optimize"]
MODEL, WORKLOAD, ROWS = "akka/arithmetic", "triage", "triage-train"
STEPS = "hyperparams.training.maxSteps"
RATE = "hyperparams.optimizer.learningRate"


class CommandLine:
    """One user's shell: the address of a trainer, and commands on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {"TRAINER_URL": f"local:{folder}"}

    def __call__(self, argv: str | Sequence[str], *, environ: dict[str, str] | None = None, stdin: str = "") -> Outcome:
        """Carry out a command line in this process; workers are processes of their own all the same."""
        app = App(build_trainer, build_services=build_services)
        return invoke(argv, app=app, environ=self.environ | (environ or {}), stdin=stdin)

    def ok(self, argv: str | Sequence[str], **options: Any) -> str:
        """What a command prints that has to succeed."""
        ended = self(argv, **options)
        assert ended.code == 0, ended.err
        return ended.out

    def json(self, argv: str | Sequence[str], **options: Any) -> Any:
        """The JSON document that a command prints."""
        return json.loads(self.ok([*words(argv), "-o", "json-compact"], **options))

    def variables(self, **more: str) -> dict[str, str]:
        """The environment of a process of this user's."""
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        return kept | self.environ | {"OMP_NUM_THREADS": "1", "PATH": f"{SCRIPTS}:{kept.get('PATH', '')}"} | more

    def spawn(self, argv: str | Sequence[str], program: Sequence[str] = (PROGRAM,), **environ: str) -> Any:
        """Start a command as a process, with pipes to its streams."""
        return subprocess.Popen(
            [*program, *words(argv)],
            env=self.variables(**environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def process(self, argv: str | Sequence[str], program: Sequence[str] = (PROGRAM,), **environ: str) -> Outcome:
        """Carry out a command as a process."""
        with self.spawn(argv, program, **environ) as process:
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        return Outcome(process.returncode, out, err)

    def prepare(self, rows: int = 40) -> CommandLine:
        """Register a small dataset and a workload."""
        self.ok(f"datasets create -f - --name {ROWS}", stdin=jsonl(rows))
        self.ok(f"training workloads create {WORKLOAD}")
        return self

    def start(self, *settings: str, wait: bool = False, environ: dict[str, str] | None = None) -> str:
        """Start a run of 40 updates with these settings on top; its id."""
        argv = ["training", "runs", "start", "-f", "-", "--force", "--jq", ".runId", "--set", f"{STEPS}=40"]
        argv += [word for setting in settings for word in ("--set", setting)]
        return self.ok([*argv, *["--wait", "-q"][: 2 * wait]], stdin=DESCRIPTOR, environ=environ).strip()

    def state(self) -> dict[str, Any]:
        """Everything that lasts: each file with its size and time, and each row of the catalog.

        Left out is what holds nothing: locks, marks of open records, the database's own log, and how long rows are
        under a model.
        """
        fleeting = ("catalog.sqlite", "locks/", "unclosed/", "cache/")
        files = {
            name: (path.stat().st_size, path.stat().st_mtime_ns)
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not (name := str(path.relative_to(self.folder))).startswith(fleeting)
        }
        if not (self.folder / "catalog.sqlite").exists():
            return {"files": files}
        with closing(sqlite3.connect(f"file:{self.folder / 'catalog.sqlite'}?mode=ro", uri=True)) as catalog:
            return {"files": files, "rows": [*catalog.iterdump()]}


DESCRIPTOR = f"""
kind: run
workload: {WORKLOAD}
baseModel: {MODEL}
config:
  dataset: {ROWS}
  hyperparams: {{training: {{epochs: 1000000}}}}
"""


def jsonl(rows: int) -> str:
    """This many chat rows, one a line."""
    return "".join(json.dumps(row(f"question {i}", f"answer {i}")) + "\n" for i in range(rows))


def words(argv: str | Sequence[str]) -> list[str]:
    """A command line as words; text is split at blanks."""
    return argv.split() if isinstance(argv, str) else [*argv]
