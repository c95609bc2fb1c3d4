"""The outermost frame: exit codes, and what is said when something goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from support.commands import invoke
from support.tree import tree

from akka_optimize import __version__

TESTS = Path(__file__).parents[1]
SMALL_TREE = [
    sys.executable,
    "-c",
    "from support.tree import main; main()",
]
# Unbuffered streams would hide what the interpreter's own end does with a stream that failed.
ENVIRON = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | {"PYTHONPATH": str(TESTS)}
REAL_TREE = [sys.executable, "-c", "from akka_optimize.cli.main import main; main()"]


def shell(command: str, *, program: list[str] = SMALL_TREE, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, in which "$@" is the program."""
    return subprocess.run(
        ["bash", "-c", command, "bash", *program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**ENVIRON, **environ},
    )


# Spelled out by hand from the documented table.
CODES = {
    "NotFound": 1,
    "Invalid": 1,
    "Ambiguous": 1,
    "Conflict": 1,
    "Refused": 1,
    "Exhausted": 1,
    "Unsupported": 1,
    "Internal": 1,
    "WrongUsage": 2,
    "Unreachable": 3,
    "TimedOut": 3,
    "Unauthenticated": 4,
}


@pytest.mark.parametrize("kind", CODES)
def test_each_error_ends_with_its_code(kind):
    """And says what, where, and what to do, on stderr."""
    outcome = invoke(f"runs fail {kind}", tree=tree)
    assert (outcome.code, outcome.out) == (CODES[kind], "")
    assert outcome.err == "Error: what was wrong\n  field: config.seed\n  hint: what to do\n"


def test_an_answer_of_no_is_no_error():
    """Exit 5, and the sentence without the word, with what can be done now."""
    outcome = invoke("runs fail AnswerIsNo", tree=tree)
    assert (outcome.code, outcome.err) == (5, "what was wrong\n  hint: what to do\n")


def test_an_interrupt_leaves_no_traceback():
    """Exit 130, quietly."""
    outcome = invoke("runs fail KeyboardInterrupt", tree=tree)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


def test_an_unexpected_error_is_one_line_that_admits_a_fault():
    """The traceback only under --verbose; exit 1."""
    outcome = invoke("runs fail ValueError", tree=tree)
    assert outcome.code == 1
    assert outcome.err == (
        "Error: ValueError: some\\x1bthing\n  hint: this is a fault in akka-optimize; --verbose shows where\n"
    )


@pytest.mark.parametrize("argv", ["--verbose runs fail ValueError", "runs fail ValueError --verbose"])
def test_verbose_shows_where(argv):
    """Wherever it was typed."""
    outcome = invoke(argv, tree=tree)
    assert outcome.code == 1
    assert outcome.err.startswith("Traceback (most recent call last):\n")
    assert outcome.err.endswith("Error: ValueError: some\\x1bthing\n  hint: this is a fault in akka-optimize\n")


def test_a_command_whose_module_is_broken_is_a_fault_too():
    """Lazy imports fail inside the frame."""
    outcome = invoke("broken", tree=tree)
    assert outcome.code == 1
    assert "this is a fault in akka-optimize" in outcome.err


def test_the_version():
    """`--version` at the root, of the real tree."""
    outcome = invoke("--version")
    assert (outcome.code, outcome.out) == (0, f"akka-optimize {__version__}\n")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("\x04", 1), ("\x03", 130)], ids=repr)
def test_a_question_on_a_real_terminal(answer, code):
    """Asked and answered; no, the end of input and Ctrl-C do nothing."""
    terminal = pexpect.spawn(
        SMALL_TREE[0],
        [*SMALL_TREE[1:], "runs", "start", "--steps", "1"],
        env={**ENVIRON, "NO_COLOR": "1"},
        encoding="utf-8",
        timeout=60,
    )
    terminal.expect_exact("Start one run? [y/N] ")
    terminal.send(answer if answer < " " else f"{answer}\n")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == code
    assert ("starting" in terminal.before) is (code == 0)
    assert "Traceback" not in terminal.before


@pytest.mark.parametrize("argv", ["--help", "--version"])
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ('"$@" {} > /dev/full', 1, "Error: the output could not be written: No space left on device\n"),
        ('"$@" {} >&-', 1, "Error: standard output is closed, so there is nowhere to print the result\n"),
        ('"$@" {} > /dev/full 2>&-', 1, ""),
        ('"$@" {} 2>&- > /dev/null', 0, ""),
        ('"$@" {} <&- > /dev/null', 0, ""),
    ],
    ids=["full", "closed", "full-and-no-stderr", "no-stderr", "no-stdin"],
)
def test_streams_that_do_not_work(command, argv, code, said):
    """One sentence and no traceback, also not from the interpreter's own end."""
    done = shell(command.format(argv), program=REAL_TREE)
    assert (done.returncode, done.stderr) == (code, said)


def test_a_reader_that_leaves_ends_the_command_quietly():
    """As a closed pipe ends any program: 141, and not a word."""
    done = shell('"$@" runs flood | head -1; echo "${PIPESTATUS[0]}"')
    assert (done.stdout, done.stderr) == ("x\n141\n", "")
    done = shell('"$@" --help | exec true; echo "${PIPESTATUS[0]}"')
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_no_file_takes_the_place_of_a_closed_stream():
    """What is opened later never becomes stdin, stdout or stderr."""
    code = "import os; from akka_optimize.cli.main import occupy_closed_streams as f; f(); os._exit(os.dup(2))"
    assert shell('"$@" <&- >&- 2>&-', program=[sys.executable, "-c", code]).returncode > 2


def test_an_output_file_on_a_full_disk_is_an_error():
    """Exit 1 with the reason."""
    done = shell('"$@" runs flood > /dev/full')
    assert (done.returncode, done.stderr) == (1, "Error: the output could not be written: No space left on device\n")


def test_ctrl_c_ends_the_process_quietly():
    """A real signal to a real process."""
    process = subprocess.Popen(
        [*SMALL_TREE, "runs", "hang"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRON,
    )
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (130, "")
