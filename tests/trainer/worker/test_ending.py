"""What an exception means for the run that it ended."""

from __future__ import annotations

import errno

import pytest

from akka_optimize import errors
from akka_optimize.trainer.worker.ending import Ending


class OutOfMemoryError(RuntimeError):
    """Named like torch's own."""


FAULTS = [
    pytest.param(RuntimeError("first\nsecond"), "ENGINE_ERROR", "RuntimeError: first", False, id="first-line"),
    pytest.param(ZeroDivisionError(), "ENGINE_ERROR", "ZeroDivisionError", False, id="no-message"),
    pytest.param(errors.Internal("the weights are lost"), "ENGINE_ERROR", "the weights are lost", False, id="ours"),
    pytest.param(errors.Exhausted("the disk is full"), "DISK_FULL", "the disk is full", True, id="our-full-disk"),
    pytest.param(OSError(errno.ENOSPC, "No room"), "DISK_FULL", "OSError: [Errno 28] No room", True, id="full-disk"),
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
