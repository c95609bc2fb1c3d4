"""A run's curves as event files, kept up with the run while it trains, and shown by TensorBoard where wanted."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from akka_optimize import errors
from akka_optimize.actions.training.runs import eventfiles
from akka_optimize.actions.training.runs.board import Board, free_port, require_program
from akka_optimize.actions.training.runs.eventfiles import EventFolder
from akka_optimize.core.mirror import Curve, curves, done_at, joined, odd
from akka_optimize.records import TERMINAL_PHASES, Metrics, Run

EVERY_SECONDS = 5.0
AGAIN = 64  # steps before the last one that are fetched once more, for what was recorded late
PATIENCE = 10  # fetches that may fail in a row


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def run(self, ref: str) -> Run:
        """One run by id, prefix or name."""
        ...

    def metrics(self, ref: str, *, columns: Sequence[str] = (), last_steps: int = 0) -> Metrics:
        """The run's curves, of all steps or of the newest."""
        ...


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A run's event files in `dir`: the last `step` in them, how many steps were `written`, where they are shown."""

    run_id: str
    dir: str
    step: int
    written: int
    url: str | None


class Mirror:
    """One run on its way into a folder of event files, and the TensorBoard over it, if any."""

    def __init__(
        self, trainer: Trainer, run: Run, folder: EventFolder, board: Board | None, say: Callable[[str], None]
    ):
        self._trainer, self._run, self._folder, self._board, self._say = trainer, run, folder, board, say
        self._curves: dict[str, Curve] = {}
        self._seen: tuple[int, int] | None = None  # attempt and replaced steps of the last fetch
        self._told: set[str] = set()
        self._written = 0

    @property
    def record(self) -> Mirrored:
        """What has been done so far."""
        url = None if self._board is None else self._board.url
        return Mirrored(self._run.run_id, str(self._folder.path), self._folder.steps, self._written, url)

    def sync(self) -> None:
        """Write what was recorded since the last time. Raises what the trainer raises, Refused and Exhausted (disk)."""
        self._run = self._trainer.run(self._run.run_id)
        seen = (self._run.attempt, self._run.replaced_steps)
        whole = seen != self._seen or self._run.phase in TERMINAL_PHASES
        behind = max(self._run.observed_step - self._folder.steps, 0) + AGAIN
        metrics = self._trainer.metrics(self._run.run_id, last_steps=0 if whole else behind)
        fetched = curves(metrics)
        self._curves = fetched if whole else joined(self._curves, fetched)
        self._seen = seen
        self._written += self._folder.write(self._curves, done_at(self._run, self._curves))
        self._tell_of_gaps()

    def follow(self) -> None:
        """Go on until the run has ended, or with a TensorBoard until that has. Raises as `sync` does."""
        failed = 0
        while self._goes_on():
            if self._rest():
                return
            try:
                self.sync()
                failed = 0
            except (errors.Unreachable, errors.TimedOut) as error:
                failed += 1
                if failed == PATIENCE:
                    raise
                self._say(f"The curves could not be fetched ({error.message}); trying again")
        if self._board is not None:
            self._say(f"Run {self._run.run_id} is {self._run.phase}; TensorBoard stays open until Ctrl-C")
            while not self._board.ended(within=EVERY_SECONDS):
                pass

    def _goes_on(self) -> bool:
        """Is there more to come? A paused run may be resumed, for which only a TensorBoard waits."""
        phase = self._run.phase
        return phase not in TERMINAL_PHASES and (phase != "PAUSED" or self._board is not None)

    def _rest(self) -> bool:
        """Wait for the next fetch; has TensorBoard ended meanwhile?"""
        if self._board is not None:
            return self._board.ended(within=EVERY_SECONDS)
        time.sleep(EVERY_SECONDS)
        return False

    def _tell_of_gaps(self) -> None:
        for name, curve in self._curves.items():
            if name in eventfiles.TAGS and name not in self._told and (count := odd(curve)):
                self._told.add(name)
                self._say(f"Note: {name} is not a finite number at {count} steps; it is written as it is")


@contextmanager
def opened(
    trainer: Trainer, ref: str, *, directory: Path | None, port: int | None, say: Callable[[str], None]
) -> Iterator[Mirror]:
    """The run's event files as they are now, in `directory` or a folder of the run's own; with `port`, TensorBoard.

    What is missing is told before anything is written. Raises Unsupported (tensorboardX), Refused (no `tensorboard`,
    the port, the folder), NotFound, Ambiguous, Exhausted (disk), TimedOut; and Interrupted for a Ctrl-C, in the block
    too.
    """
    eventfiles.require_library()
    program = require_program() if port is not None else ""
    port = None if port is None else free_port(port)
    run = trainer.run(ref)
    folder = EventFolder(directory or own_folder(run.run_id), run.run_id)
    board = None if port is None else Board(program, folder.path, port, say)
    try:
        with ExitStack() as stack:
            mirror = Mirror(trainer, run, stack.enter_context(folder), board, say)
            mirror.sync()
            if board is not None:
                stack.enter_context(board)
            yield mirror
    except KeyboardInterrupt:
        raise errors.Interrupted(f"the event files stay in {folder.path}") from None


def own_folder(run_id: str) -> Path:
    """A folder for a run below the system's temporary one, in one that is this user's alone. Raises Refused."""
    mine = Path(tempfile.gettempdir()) / f"akka-optimize-tensorboard-{os.getuid()}"
    with eventfiles.told(mine):
        mine.mkdir(mode=0o700, exist_ok=True)
        found = mine.lstat()
    if mine.is_symlink() or found.st_uid != os.getuid():
        raise errors.Refused(f"{mine} is not a folder of this user's", hint="name a folder with --dir")
    return mine / run_id
