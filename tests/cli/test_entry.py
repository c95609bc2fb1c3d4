"""Ctrl-C before and after the command's own work, as real signals to real processes."""

from __future__ import annotations

import signal
import subprocess

import pytest
from support.processes import PATIENCE_SECONDS, run, start

SLOW_IMPORT = "import sys; print('waiting', flush=True); sys.stdin.read()"
AT_THE_END = """
import atexit, sys
from akka_optimize.cli.entry import akka_optimize
atexit.register(lambda: (print("waiting", flush=True), sys.stdin.read()))
sys.argv = ["akka-optimize", "datasets", "nosuch"]
akka_optimize()
"""


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and complaints of a process that was sent SIGINT once it said that it waits."""
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE_SECONDS)  # its stdin stays open, so that nothing else ends it
    with process:
        return process.returncode, process.stderr.read()


@pytest.mark.parametrize("script", ["akka_optimize", "akka"])
def test_an_interrupt_while_modules_are_loaded_is_quiet(tmp_path, script):
    """Exit 130 without a traceback, however early in the program's own start."""
    (tmp_path / "click.py").write_text(SLOW_IMPORT)
    code = f"""
import sys
sys.path.insert(0, sys.argv[1])
from akka_optimize.cli import entry
entry.{script}()
"""
    assert interrupted(start(code, tmp_path)) == (130, "")


def test_an_interrupt_while_the_interpreter_ends_is_quiet():
    """Also after the command has been carried out."""
    code, complaints = interrupted(start(AT_THE_END))
    assert code == 130
    assert "Traceback" not in complaints


def test_an_interrupt_that_is_ignored_stays_so():
    """As `nohup` or a shell's `&` has it."""
    code = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from akka_optimize.cli.entry import akka_optimize
sys.argv = ["akka-optimize", "--version"]
try:
    akka_optimize()
except SystemExit:
    print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
"""
    assert run(code).endswith("True\n")


def test_the_entry_loads_nothing_before_its_handler_stands():
    """Beyond what the interpreter itself has loaded, only the package's own few lines."""
    code = """
import sys
before = set(sys.modules)
import akka_optimize.cli.entry
ours = {name for name in set(sys.modules) - before if name.startswith("akka_optimize")}
print(*sorted(ours), "click" in sys.modules)
"""
    assert run(code) == "akka_optimize akka_optimize.cli akka_optimize.cli.entry False\n"
