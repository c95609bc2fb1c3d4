"""The queue of one home, from a worker's side: take what is there, then look once more, then leave."""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
from contextlib import closing
from typing import TYPE_CHECKING

from akka_optimize.trainer import claims, recover, slots
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home, Lock
from akka_optimize.trainer.worker import log
from akka_optimize.trainer.worker.attempt import Attempt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType


class Stop:
    """Has the process been asked to end? The first SIGTERM or SIGINT waits for the update at hand, a second kills."""

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        """From now on, hear the signals."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(number, signal.SIG_DFL)


def main(argv: Sequence[str]) -> int:
    """`HOME [--lock DESCRIPTOR --place NAME]`: work until the queue of HOME is empty; leave where no place is free."""
    usage = argparse.ArgumentParser("python -m akka_optimize.trainer.worker", description="Carry out queued runs.")
    usage.add_argument("home", metavar="HOME", help="the trainer's folder")
    usage.add_argument("--lock", metavar="DESCRIPTOR", type=int, help="an inherited file that holds the worker's lock")
    usage.add_argument("--place", metavar="NAME", help="that lock's name")
    given = usage.parse_args(argv)
    home = Home.open(given.home)
    lock = slots.take(home) if given.lock is None else _handed_over(given.place, given.lock)
    stop = Stop()
    stop.listen()
    faulthandler.enable()
    with closing(Catalog.open(home)) as catalog:
        drain(catalog, home, lock, stop)
    return 0


def drain(catalog: Catalog, home: Home, lock: Lock | None, stop: Stop) -> None:
    """Carry out queued runs while a worker's place is ours by `lock`, until none is left or somebody says stop.

    A run that was committed while all places were still held has nobody else who would start a worker for it. So the
    queue is looked at again after letting go. A place that the home no longer has is left after the run at hand.
    """
    while lock is not None:
        with lock, slots.signed(lock):
            for note in recover.recover(catalog, home):
                log.say(note)
            while _may_go_on(home, lock, stop) and (taken := claims.take(catalog, home)) is not None:
                run, hold = taken
                with hold:
                    Attempt(catalog, home, run, stop).carry_out()
        waiting = not stop.asked and catalog.runs(phase="QUEUED", limit=1).total
        lock = slots.take(home) if waiting else None


def _may_go_on(home: Home, lock: Lock, stop: Stop) -> bool:
    return not stop.asked and slots.allowed(home, lock)


def _handed_over(place: str, descriptor: int) -> Lock:
    os.set_inheritable(descriptor, False)
    return Lock(place, descriptor)
