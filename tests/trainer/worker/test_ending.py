"""What an exception means for the run that it ended."""

from __future__ import annotations

import errno
import os

import pytest

from akka_optimize import errors
from akka_optimize.trainer.engines import ProcessLost
from akka_optimize.trainer.folder import RecordLost
from akka_optimize.trainer.worker.ending import Ending
from akka_optimize.trainer.worker.source import SourceLost, StateLost


class OutOfMemoryError(RuntimeError):
    """Named like torch's own."""


def full(kind, message, behind):
    """An exception that a library raises over a disk that is full, with the system's own behind it."""
    fault = kind(message)
    fault.__context__ = behind
    return fault


NO_ROOM = "there is no room for what the run records: "
FAULTS = [
    pytest.param(RuntimeError("first\nsecond"), "ENGINE_ERROR", "RuntimeError: first", False, id="first-line"),
    pytest.param(ZeroDivisionError(), "ENGINE_ERROR", "ZeroDivisionError", False, id="no-message"),
    pytest.param(errors.Internal("the weights are lost"), "ENGINE_ERROR", "the weights are lost", False, id="ours"),
    pytest.param(ProcessLost("process 1 has ended"), "PROCESS_LOST", "process 1 has ended", True, id="process"),
    pytest.param(StateLost("it is gone"), "STATE_LOST", "it is gone", False, id="own-snapshot"),
    pytest.param(SourceLost("it is gone"), "SOURCE_LOST", "it is gone", False, id="parents-snapshot"),
    pytest.param(
        full(RecordLost, "it is gone", OSError(errno.ENOSPC, "x")), "RECORD_LOST", "it is gone", False, id="folder"
    ),
    pytest.param(
        OSError(errno.EACCES, "Not allowed"),
        "ENGINE_ERROR",
        "PermissionError: [Errno 13] Not allowed",
        False,
        id="no-access",
    ),
    pytest.param(MemoryError(), "OUT_OF_MEMORY", "MemoryError", True, id="memory"),
    pytest.param(OutOfMemoryError("CUDA"), "OUT_OF_MEMORY", "OutOfMemoryError: CUDA", True, id="device-memory"),
    pytest.param(ValueError("a \udc80 b"), "ENGINE_ERROR", "ValueError: a ? b", False, id="no-surrogates"),
]


@pytest.mark.parametrize(("fault", "code", "reason", "resumable"), FAULTS)
def test_a_fault_has_a_code_and_one_line(fault, code, reason, resumable, capsys):
    """Code, first line, and whether another attempt may help; the traceback is printed."""
    with Ending() as ending:
        raise fault
    assert (ending.phase, ending.code, ending.reason, ending.resumable) == ("FAILED", code, reason, resumable)
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(errors.Exhausted("the disk is full"), "the disk is full", id="ours"),
        pytest.param(OSError(errno.ENOSPC, "x"), NO_ROOM + "no space left on device", id="system"),
        pytest.param(OSError(errno.EDQUOT, "x"), NO_ROOM + os.strerror(errno.EDQUOT).lower(), id="quota"),
        pytest.param(OSError(errno.EFBIG, "x"), NO_ROOM + "file too large", id="size-limit"),
        pytest.param(
            full(RuntimeError, "enforce fail", OSError(errno.ENOSPC, "x")),
            NO_ROOM + "no space left on device",
            id="torch",
        ),
        pytest.param(
            RuntimeError("I/O error: No space left on device (os error 28)"),
            NO_ROOM + "no space left on device",
            id="safetensors",
        ),
    ],
)
def test_a_full_disk_pauses(fault, reason):
    """However a library tells of it, the run stands still, with the system's word for it, and may go on later."""
    with Ending() as ending:
        raise fault
    assert (ending.phase, ending.code, ending.reason) == ("PAUSED", "DISK_FULL", reason)
    assert (ending.checkpoint, ending.resumable) == (None, True)


def test_what_came_first_is_the_cause():
    """A second fault, as in closing the record, changes nothing."""
    ending = Ending()
    for fault in (RuntimeError("first"), OSError(errno.ENOSPC, "second")):
        with ending:
            raise fault
    assert (ending.phase, ending.code, ending.reason) == ("FAILED", "ENGINE_ERROR", "RuntimeError: first")


@pytest.mark.parametrize(("asked", "phase"), [("cancel", "CANCELLED"), ("pause", "PAUSED")])
def test_a_full_disk_does_not_undo_what_was_asked_for(asked, phase):
    """The record is closed later; a fault of any other kind, as a folder that is gone, does end the run."""
    ending = Ending()
    ending.cancel() if asked == "cancel" else ending.pause("latest", None)
    with ending:
        raise OSError(errno.ENOSPC, "x")
    assert (ending.phase, ending.code) == (phase, None)
    with ending:
        raise RecordLost("it is gone")
    assert (ending.phase, ending.code) == ("FAILED", "RECORD_LOST")


def test_nothing_raised_is_a_completion():
    """An attempt that simply comes to its end has completed."""
    with Ending() as ending:
        pass
    assert (ending.phase, ending.code, ending.reason, ending.resumable) == ("COMPLETED", None, None, False)


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_process_is_no_failure_of_the_run(fault):
    """Interrupts pass through, and end the worker."""
    ending = Ending()
    with pytest.raises(fault), ending:
        raise fault
    assert ending.phase == "COMPLETED"
