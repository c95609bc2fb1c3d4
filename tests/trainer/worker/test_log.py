"""What is printed while a run is carried out is in the run's log, whoever printed it."""

from __future__ import annotations

import os
import subprocess
import sys

from support import life

CODE = """
import os, subprocess, sys
from pathlib import Path
from akka_optimize.trainer.worker import log
print("before")
with log.into(Path(sys.argv[1])):
    print("python to stdout")
    print("python to stderr", file=sys.stderr)
    os.write(1, b"straight to the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('a child')"])
    log.say("a sentence with \\x1b[31m colour")
print("after")
"""


def test_everything_goes_to_the_log_and_nothing_else_does(tmp_path):
    """Python's streams, bare descriptors and children write to the log, in order; what is around the block does not."""
    place = tmp_path / "worker.log"
    place.write_text("earlier\n")
    command = [sys.executable, "-u", "-c", CODE, str(place)]
    run = subprocess.run(command, cwd=life.TESTS, capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("before\nafter\n", "")
    *lines, sentence = place.read_text().splitlines()
    expected = ["earlier", "python to stdout", "python to stderr", "straight to the descriptor", "a child"]
    assert lines == expected
    assert sentence.endswith(r"a sentence with \x1b[31m colour")


def test_a_crash_of_the_interpreter_is_in_the_log(tmp_path):
    """When native code brings the process down, the log has where Python was."""
    place = tmp_path / "worker.log"
    code = (
        "import faulthandler, os, signal, sys; from pathlib import Path; from akka_optimize.trainer.worker import log;"
        "faulthandler.enable()\nwith log.into(Path(sys.argv[1])):\n    os.kill(os.getpid(), signal.SIGSEGV)"
    )
    run = subprocess.run([sys.executable, "-c", code, str(place)], cwd=life.TESTS, check=False, capture_output=True)
    assert run.returncode == -11
    assert "Segmentation fault" in place.read_text()
    assert os.stat(place).st_mode & 0o777 == 0o600
