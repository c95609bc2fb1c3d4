"""Processes of a trainer that are killed at any moment, forked from one that has loaded everything, and so in no time.

A nursery carries out one act at a time in a process of its own, and kills it by SIGKILL once its time is over.
"""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any

from support import processes

from akka_optimize.protocol import convert
from akka_optimize.records import Document, Run
from akka_optimize.trainer import recover, resume, start, verify
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

KILLED = -9
NURSERY = """
import json, os, select, signal, sys, traceback
from support import killing
for line in sys.stdin:
    act, home, argument, seconds = json.loads(line)
    child = os.fork()
    if not child:
        status = 1
        try:
            killing.ACTS[act](home, argument)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = os.pidfd_open(child)
    if not select.select([end], [], [], seconds)[0]:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(end)
    print(status, flush=True)
"""


def _work(home: str, _argument: Any) -> None:
    from akka_optimize.trainer.worker import main

    main([home])


def _start(home: str, document: Any) -> None:
    opened = Home.open(home)
    with Catalog.open(opened) as catalog:
        recover.recover(catalog, opened)
        start.start(catalog, opened, document)


def _resume(home: str, run_id: Any) -> None:
    opened = Home.open(home)
    with Catalog.open(opened) as catalog:
        recover.recover(catalog, opened)
        resume.resume(catalog, opened, run_id)


def _recover(home: str, _argument: Any) -> None:
    opened = Home.open(home)
    with Catalog.open(opened) as catalog:
        recover.recover(catalog, opened)


ACTS = {"work": _work, "start": _start, "resume": _resume, "recover": _recover}


class Nursery:
    """The process that forks; a context manager."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._process: subprocess.Popen[str] = processes.start(NURSERY)

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_fault: object) -> None:
        self._process.communicate(timeout=processes.PATIENCE_SECONDS)

    def act(self, act: str, argument: Any = None, *, seconds: float | None = None) -> int:
        """Carry out an act, or as much of it as `seconds` allow; its exit status, KILLED where they did not suffice."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([act, str(self._home.path), argument, seconds]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


class Killer:
    """Carries a run to its end through kills at random moments, and looks at what each of them left."""

    def __init__(self, catalog: Catalog, home: Home, nursery: Nursery, draw: random.Random) -> None:
        self.catalog, self.home, self._nursery, self._draw = catalog, home, nursery, draw
        self.kills = 0

    def submit(self, document: Document) -> Run:
        """Have a run started by a process that is killed at that now and then, until one is there; it alone is."""
        runs, longest = self.catalog.runs().total, 0.05
        while self.catalog.runs().total == runs:
            longest *= 1.5  # a machine that is busy needs longer
            self.kills += self._nursery.act("start", document, seconds=self._draw.uniform(0, longest)) == KILLED
            recover.recover(self.catalog, self.home)
            folders = {path.name for path in self.home.runs.iterdir()}
            assert folders == {run.folder.removeprefix("runs/") for run in self.catalog.runs(limit=1000).items}
        (run,) = self.catalog.runs(phase="QUEUED").items
        return run

    def carry_out(self, run: Run, kills: int, longest: float) -> Run:
        """Kill whoever has the run in hand until that happened `kills` times or it completed, then let it complete.

        `longest`: seconds that a process has at most before it is killed.
        """
        while self.kills < kills and (run := self.catalog.run(run.run_id)).phase != "COMPLETED":
            if run.phase == "QUEUED":
                status = self._nursery.act("work", seconds=self._draw.uniform(0, longest))
            else:
                hurried = self._draw.random() < 0.2
                status = self._nursery.act(
                    "resume", run.run_id, seconds=self._draw.uniform(0, 0.1) if hurried else None
                )
            assert status in (0, KILLED)
            self.kills += status == KILLED
            self.look_at(run)
        while (run := self.catalog.run(run.run_id)).phase != "COMPLETED":
            assert self._nursery.act(*(("work",) if run.phase == "QUEUED" else ("resume", run.run_id))) == 0
        self.look_at(run)
        return run

    def look_at(self, run: Run) -> None:
        """What is left is whole: the next one to come has nothing to say but that a worker is lost, and verifies."""
        notes = recover.recover(self.catalog, self.home)
        assert all("its worker" in note or "the worker process ended without a word" in note for note in notes), notes
        run = self.catalog.run(run.run_id)
        if run.phase in ("FAILED", "COMPLETED"):
            assert (run.failure_code in ("WORKER_LOST", None), list(self.home.unclosed.iterdir())) == (True, [])
            found = verify.verify(self.catalog, self.home, run.run_id)
            assert found.mismatches == ()


def curves(catalog: Catalog, run: Run) -> dict[str, tuple[list[int], bytes]]:
    """Each of the run's columns: the steps, and the bits of what was recorded there."""
    columns = convert.metrics(catalog.metrics(run.run_id)).columns
    return {name: (column.steps.tolist(), column.values.tobytes()) for name, column in columns.items()}
