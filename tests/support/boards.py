"""Event files read back by TensorBoard itself, a trainer whose run goes on, and a stand-in for its program."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from support.curves import a_run

from akka_optimize.records import Column, Metrics, Run

RUN_ID = "7d496e82c3a15f04"
STUB = """#!{python}
import os, socket, sys, time
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
print("stub on", words["--logdir"], flush=True)
{body}
"""
SERVES = """
listening = socket.create_server((words["--host"], int(words["--port"])))
print("to stderr", file=sys.stderr, flush=True)
while True:
    listening.accept()[0].close()
"""


def scalars(folder: Path) -> dict[str, list[tuple[int, float, float]]]:
    """By tag: step, value and wall time of every scalar that TensorBoard's own reader finds in a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages that it brings along
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        found = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
        tags = found.Tags()["scalars"]
        return {tag: [(each.step, each.value, each.wall_time) for each in found.Scalars(tag)] for tag in tags}


def program(folder: Path, body: str = SERVES) -> str:
    """A PATH on which `tensorboard` is a stand-in that does `body`."""
    path = folder / "bin" / "tensorboard"
    path.parent.mkdir()
    path.write_text(STUB.format(python=sys.executable, body=body))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"{path.parent}{os.pathsep}{os.environ['PATH']}"


class Training:
    """A trainer with one run, which is a state further each time that it is looked at."""

    def __init__(self, *states: tuple[Run, dict[str, Column]]) -> None:
        self.states = list(states)
        self.asked: list[int] = []  # for how many of the newest steps, 0 being all
        self.before_look: Callable[[], None] = lambda: None

    def run(self, ref: str) -> Run:
        self.before_look()
        return self.states[0][0]

    def metrics(self, ref: str, *, columns: Sequence[str] = (), last_steps: int = 0) -> Metrics:
        self.asked.append(last_steps)
        found = self.states[0][1]
        if len(self.states) > 1:
            del self.states[0]
        newest = sorted({step for column in found.values() for step in column.steps.tolist()})[-last_steps:]
        return Metrics({name: _from(column, newest[0]) for name, column in found.items()} if newest else {})


def state(phase: str, columns: dict[str, Column], **fields: object) -> tuple[Run, dict[str, Column]]:
    """A run in this phase with these curves."""
    last = max((int(column.steps[-1]) for column in columns.values()), default=0)
    run = a_run(RUN_ID, phase=phase, observed_step=last, started_at="2026-01-01T00:00:00.000Z", **fields)
    return run, columns


def _from(column: Column, step: int) -> Column:
    late = column.steps >= step
    return Column(column.steps[late], column.values[late], column.attempts[late])
