"""Why a run ends before its time, and which of these reasons another attempt may get past."""

from __future__ import annotations

from typing import Final

DISK_FULL: Final = "DISK_FULL"
OUT_OF_MEMORY: Final = "OUT_OF_MEMORY"
PROCESS_LOST: Final = "PROCESS_LOST"  # one of the processes that a run trains in
WORKER_LOST: Final = "WORKER_LOST"
WORKER_STOPPED: Final = "WORKER_STOPPED"
SOURCE_LOST: Final = "SOURCE_LOST"  # what a child starts from
STATE_LOST: Final = "STATE_LOST"  # what a run goes on from
RECORD_LOST: Final = "RECORD_LOST"
ENGINE_ERROR: Final = "ENGINE_ERROR"  # all else

RESUMABLE: Final = frozenset({DISK_FULL, OUT_OF_MEMORY, PROCESS_LOST, WORKER_LOST, WORKER_STOPPED})
