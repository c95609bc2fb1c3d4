"""What keeps a forked child from outliving its parent, and from taking more than it was given."""

from __future__ import annotations

import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1  # linux/prctl.h
GIB = 1 << 30


def end_with(parent: int) -> None:
    """Have the kernel end this process once the thread that forked it in `parent` is gone, however that ended.

    Only Linux knows how; elsewhere the limit on the processor's time ends a child that is left alone.
    """
    if sys.platform != "linux":
        return
    from ctypes import CDLL

    CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before the call
        os._exit(1)


def limit(*, seconds: int, memory: int) -> None:
    """Let this process take `seconds` of processor time, after which SIGXCPU ends it, and `memory` more bytes.

    `memory` counts addresses, from what is taken now; not limited where that cannot be told. No core is dumped.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_CPU, seconds)
    statm = Path("/proc/self/statm")
    if statm.exists():
        _lower(resource.RLIMIT_AS, int(statm.read_text().split()[0]) * resource.getpagesize() + memory)


def _lower(kind: int, most: int) -> None:
    """Set the soft limit, unless a lower one holds already; a system that refuses keeps its own."""
    soft, hard = resource.getrlimit(kind)
    most = min(bound for bound in (most, soft, hard) if bound != resource.RLIM_INFINITY)
    with suppress(OSError, ValueError, OverflowError):
        resource.setrlimit(kind, (most, hard))
