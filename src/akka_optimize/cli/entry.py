"""Where the console scripts begin: what a Ctrl-C does before anything can be interrupted, and after it.

This module imports nothing that takes time, so that the handler stands before everything else is loaded. Outside of
the command's own work, an interrupt ends the process at once, for there is nothing to undo and nothing to tell.
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130

_at_work = False


def interruptible(wanted: bool) -> None:
    """Whether an interrupt is a KeyboardInterrupt from now on, for the command to end by, or the end at once."""
    global _at_work
    _at_work = wanted


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    if _at_work:
        raise KeyboardInterrupt
    os._exit(INTERRUPTED)


def _watch() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # or whoever started us has it ignored
        signal.signal(signal.SIGINT, _interrupted)


def akka_optimize() -> NoReturn:
    """The console script `akka-optimize`."""
    _watch()
    from akka_optimize.cli.main import main

    main()


def akka() -> NoReturn:
    """The console script `akka`."""
    _watch()
    from akka_optimize.cli.akka import main

    main()
