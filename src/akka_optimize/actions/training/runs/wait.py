"""Follow a run until it ends, whatever becomes of the connection meanwhile.

The events come over one stream. A stream that drops, or that ends before the run does, is opened again: eight times in
a row over about two minutes, and anything that arrives makes the count begin anew. A stream that was opened again
begins with where the run is, which is left out where it is what was told last.

A run that somebody paused is waited for: who paused it can go on with it. One that the trainer paused by itself, for
want of room on its disk, waits for somebody to do something about that, and so the wait ends.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from akka_optimize.errors import AkkaError, AnswerIsNo, Interrupted, Refused, TimedOut, Unreachable
from akka_optimize.records import Run, RunEvent

DELAYS = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0)  # seconds before each try in a row; 121 together
JITTER = 0.25  # of a delay, either way
SLACK = 1.0  # seconds by which the deadline of a call may be told early

T = TypeVar("T")


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def run(self, ref: str) -> Run:
        """One run by id, prefix or name."""
        ...

    def watch_run(self, ref: str, *, timeout: float | None = None) -> Iterator[RunEvent]:
        """Its progress until it ends."""
        ...


class Following:
    """One wait for one run: first its `events`, then its `record`.

    `timeout`: the longest wait in seconds, or None. `say` is told of each reopening. Raises TimedOut (the wait's own
    bound) and Unreachable (every try failed), neither of which is anything to the run, and what the trainer raises.
    """

    def __init__(
        self,
        trainer: Trainer,
        run_id: str,
        *,
        timeout: float | None,
        say: Callable[[str], None],
        sleep: Callable[[float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._trainer, self._run_id, self._say = trainer, run_id, say
        self._sleep, self._clock, self._chance = sleep or time.sleep, clock, chance
        self._timeout = timeout
        self._deadline = None if timeout is None else clock() + timeout
        self._failed = 0  # tries in a row
        self._ended = False
        self._told_of_pause = False
        self._stuck: Run | None = None  # as the trainer paused it

    def events(self) -> Iterator[RunEvent]:
        """Every change as it comes, none of them twice; the last one is terminal, or a pause of the trainer's own."""
        told: tuple[object, ...] | None = None
        while not self._ended:
            remaining = self._remaining()
            try:
                for event in self._trainer.watch_run(self._run_id, timeout=remaining):
                    self._failed = 0
                    if (state := _state(event)) != told:
                        told = state
                        yield event
                    if event.terminal:
                        self._ended = True
                    if event.terminal or (event.phase == "PAUSED" and self._is_stuck()):
                        return
                    self._told_of_pause &= event.phase == "PAUSED"
                dropped: AkkaError = Unreachable("the stream ended before the run did")
            except (Unreachable, Interrupted, TimedOut) as error:  # Interrupted: somebody on the way reset the stream
                dropped = error
            self._pause(dropped)

    def record(self) -> Run:
        """The run as it is on record once it has ended, fetched with the same patience; or as the trainer paused it."""
        while self._stuck is None:
            try:
                return self._trainer.run(self._run_id)
            except (Unreachable, TimedOut) as error:
                self._pause(error)
        return self._stuck

    def _is_stuck(self) -> bool:
        """Did the trainer pause the run by itself? Otherwise say, once, that it is waited for."""
        run = self._trainer.run(self._run_id)
        if run.phase != "PAUSED":
            return False
        if paused_by_trainer(run):
            self._stuck = run
            return True
        if not self._told_of_pause:
            self._told_of_pause = True
            self._say(f"The run is paused, and this goes on waiting; to go on with it: {_resume(run)}")
        return False

    def left(self) -> str:
        """What becomes of the run when the wait ends here, and what the user may do."""
        return f"{self._what_of_it()}; {self._next()}"

    def _remaining(self) -> float | None:
        if self._deadline is None:
            return None
        if (remaining := self._deadline - self._clock()) <= 0:
            raise self._out_of_time()
        return remaining

    def _pause(self, error: AkkaError) -> None:
        """Wait for the next try, and tell of it. Raises Unreachable after the last one, TimedOut at the deadline."""
        if self._deadline is not None and isinstance(error, TimedOut) and self._clock() >= self._deadline - SLACK:
            raise self._out_of_time() from error
        if self._failed == len(DELAYS):
            raise Unreachable(
                f"the trainer was lost, and {self._failed} tries in a row failed ({error.message}); "
                f"{self._what_of_it()}",
                hint=self._next(),
            ) from error
        delay = DELAYS[self._failed] * (1 + JITTER * (2 * self._chance() - 1))
        self._failed += 1
        self._say(
            f"The trainer was lost ({error.message}); trying again in {delay:.0f} s, {self._failed} of {len(DELAYS)}"
        )
        remaining = self._remaining()
        self._sleep(delay if remaining is None else min(delay, remaining))

    def _out_of_time(self) -> TimedOut:
        return TimedOut(f"{self._timeout:g} s ran out; {self._what_of_it()}", hint=self._next())

    def _what_of_it(self) -> str:
        return f"run {self._run_id} has ended" if self._ended else f"run {self._run_id} goes on"

    def _next(self) -> str:
        command = "akka-optimize training runs"
        if self._ended:
            return f"to see it: {command} get {self._run_id}"
        return f"to follow it again: {command} wait {self._run_id}"


def _state(event: RunEvent) -> tuple[object, ...]:
    """What makes an event another one; the loss as text, for NaN is not equal to itself."""
    return event.phase, event.step, event.steps, repr(event.loss), event.failure_code, event.failure_reason


def paused_by_trainer(run: Run) -> bool:
    """Does the run stand still without anybody having asked for it?"""
    return run.phase == "PAUSED" and (run.pause is None or run.pause.checkpoint is None)


def require_ended(run: Run) -> None:
    """Raise Refused, with the reason, for a run that the trainer paused."""
    if paused_by_trainer(run):
        reason = (run.pause and run.pause.reason) or run.failure_reason or "it did not say why"
        raise Refused(
            f"run {run.run_id} was paused by the trainer: {reason}",
            hint=f"once that is mended: {_resume(run)}",
        )


def _resume(run: Run) -> str:
    return f"akka-optimize training runs resume {run.run_id}"


def require_success(run: Run) -> None:
    """Raise AnswerIsNo unless the run is COMPLETED."""
    if run.phase != "COMPLETED":
        raise AnswerIsNo(f"run {run.run_id} is {run.phase}", hint=f"akka-optimize training runs logs {run.run_id}")
