"""jq programs: checked before a request, run apart from everything, ended in time. The oracle is the real jq."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from akka_optimize import errors
from akka_optimize.output import jq

DOCUMENT = {
    "runs": [{"runId": "7d49", "loss": 0.25, "tags": ["a", "b"]}, {"runId": "be2a", "loss": None, "tags": []}],
    "total": 2,
    "name": 'é "quoted"\nline\ttab',
}
TEXT = json.dumps(DOCUMENT, ensure_ascii=False)


def children() -> set[str]:
    """The processes that this one has started and not let go of."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.fixture
def leaves_no_process():
    """Checks that a test leaves as many children behind as it found."""
    before = children()
    yield
    assert children() <= before


def results(program: str, document: str = TEXT, timeout: float = 20.0) -> str:
    """Everything that the program prints."""
    printed: list[bytes] = []
    jq.Program(program, timeout=timeout).run(document, write=printed.append)
    return b"".join(printed).decode()


@pytest.mark.skipif(shutil.which("jq") is None, reason="there is no jq to compare with")
@pytest.mark.parametrize(
    "program",
    [
        ".",
        ".runs[].runId",
        ".runs[0]",
        ".runs | length",
        ".name",
        ".name | tojson",
        ".missing",
        "empty",
        ".runs[] | [.runId, .loss]",
        "[.runs[].loss]",
        ".runs | map({(.runId): .tags}) | add",
        '"\\(.total) runs"',
        ".total == 2, .total, null, true",
        "@json, @text",
        '.runs[].runId | @sh, @base64, "x"',
        "to_entries[] | .key",
        "1 # a comment at the end",
        "def f(x): [x, x]; f(.total)",
        "limit(3; repeat(1))",
        "first(.runs[])",
        "env | length",
        "1, halt, 2",
        '{"a":"\\u0000\\u001f"}',
        ". as $input | $input.total",
    ],
)
def test_what_is_printed_is_what_jq_prints(program):
    """Strings raw, everything else compact, one result a line."""
    expected = subprocess.run(
        ["jq", "--raw-output", "--compact-output", program],
        input=TEXT,
        capture_output=True,
        text=True,
        check=True,
        env={},
        executable=shutil.which("jq"),
    )
    assert results(program) == expected.stdout


@pytest.mark.parametrize(
    "number", ["9007199254740993", "12345678901234567890", "0.1", "0.30000000000000004", "-0.5", "10", "123456.789"]
)
def test_a_number_that_passes_through_keeps_every_digit(number):
    """jq keeps the text of a number that a program only hands on, and so do we."""
    assert results(".x", f'{{"x":{number}}}') == number + "\n"


def test_integers_stay_integers_and_results_have_no_nan():
    """What JSON cannot hold is null, as jq has it."""
    assert results("[1, 2] | add", "null") == "3\n"
    assert results("[nan]", "null") == "[null]\n"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (".a[", "--jq: syntax error, unexpected end of file, at character 3"),
        (".a\n| ]", "--jq: syntax error, unexpected INVALID_CHARACTER, at line 2, column 3"),
        ("nosuch", "--jq: nosuch/0 is not defined, at character 1"),
        ("$nosuch", "--jq: $nosuch is not defined, at character 1"),
        ("", "--jq: the program is empty"),
        ("  ", "--jq: the program is empty"),
        (".) | (.", "--jq: syntax error, unexpected INVALID_CHARACTER, at character 2"),
        ("input", "--jq: input cannot be used here: it reads a further document, and a command prints only one"),
        ("[inputs]", "--jq: inputs cannot be used here: it reads a further document, and a command prints only one"),
        ('halt_error("x")', "--jq: halt_error cannot be used here: its message would be lost; use error"),
        ('import "a" as a; 1', "--jq: import cannot be used here: a program here is one expression, which loads "),
        ("module {}; 1", "--jq: module cannot be used here: "),
        (". | debug", "--jq: debug cannot be used here: what it prints would not be seen"),
        (".\0x", "--jq: the program holds a NUL character"),
        (".\ud800", "--jq: the program is not UTF-8"),
    ],
)
def test_a_program_that_cannot_run_is_refused_by_the_check(program, message):
    """Before any request: the sentence says what is wrong, and where."""
    with pytest.raises(errors.WrongUsage) as refusal:
        jq.check(program)
    assert refusal.value.message.startswith(message)


@pytest.mark.parametrize(
    "program", [".input", "{input: 1}", '"halt_error"', ".debug?", ". as $input | 1", "# input\n."]
)
def test_a_name_is_refused_only_as_a_call(program):
    """A field called `input` can be read."""
    jq.check(program)


def test_the_environment_cannot_be_read(monkeypatch):
    """A program taken from somewhere sees no secret, whether set here or by whoever started us."""
    monkeypatch.setenv("AKKA_SECRET", "s3cret")
    assert results("$ENV, env, $ENV.AKKA_SECRET") == "{}\n{}\nnull\n"
    assert os.environ["AKKA_SECRET"] == "s3cret"


def test_the_environment_of_the_process_is_empty_too(monkeypatch):
    """Even for a program that found a way round the two names."""
    monkeypatch.setenv("AKKA_SECRET", "s3cret")
    monkeypatch.setattr(jq, "_printing", lambda program: f"({program}) | tojson")
    assert results('$ENV | has("AKKA_SECRET")') == "false\n"


def test_an_error_on_the_way_keeps_what_was_printed():
    """The results before it stand; then the program's own message."""
    printed: list[bytes] = []
    with pytest.raises(errors.Invalid) as failure:
        jq.Program('1, "two", error("three"), 4', timeout=20).run("null", write=printed.append)
    assert b"".join(printed) == b"1\ntwo\n"
    assert failure.value.message == "--jq: three"
    assert failure.value.exit_code == 1


@pytest.mark.usefixtures("leaves_no_process")
def test_a_program_that_does_not_end_is_ended():
    """After the time allowed, with what it had printed; no process is left behind."""
    printed: list[bytes] = []
    begun = time.monotonic()
    with pytest.raises(errors.TimedOut, match=r"did not finish within 0\.5s") as failure:
        jq.Program("range(infinite) | select(. < 3)", timeout=0.5).run("null", write=printed.append)
    assert time.monotonic() - begun < 10
    assert b"".join(printed) == b"0\n1\n2\n"
    assert failure.value.exit_code == 3


def test_a_program_that_prints_without_end_is_ended():
    """Its output does not keep it alive."""
    begun = time.monotonic()
    with pytest.raises(errors.TimedOut):
        jq.Program("repeat(1)", timeout=0.5).run("null", write=lambda _: None)
    assert time.monotonic() - begun < 20


@pytest.mark.usefixtures("leaves_no_process")
def test_a_program_that_never_gets_its_document_leaves_nothing_behind():
    """A command may fail before it has a result."""
    program = jq.Program(".", timeout=20)
    program.close()
    program.close()


def test_a_document_that_is_not_read_to_its_end_is_no_fault(monkeypatch):
    """A child that dies under a big document is told as a crash, not as a closed stdout."""
    monkeypatch.setattr(jq, "_printing", lambda _: "syntax error")
    monkeypatch.setattr(jq, "check", lambda _: None)
    with pytest.raises(errors.Internal, match="status 2"):
        jq.Program(".", timeout=20).run("1" * 10_000_000, write=lambda _: None)


def test_a_transport_with_threads_is_not_disturbed():
    """The process is forked before any client is made: gRPC would complain of a later fork on stderr."""
    code = """
import grpc
from akka_optimize.output import jq
program = jq.Program(".", timeout=20)
channel = grpc.insecure_channel("127.0.0.1:9")
try:
    channel.unary_unary("/a/b")(b"", timeout=5)
except grpc.RpcError:
    program.run("1", write=lambda chunk: print(chunk))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("b'1\\n'\n", "")


def test_a_slow_reader_costs_the_program_no_time():
    """Only jq's own time counts: a pager that waits does not make the command fail."""
    slept = []

    def read_slowly(chunk: bytes) -> None:
        if len(slept) < 3:
            time.sleep(0.4)
            slept.append(chunk)

    jq.Program("range(100000)", timeout=1.0).run("null", write=read_slowly)
    assert len(slept) == 3


def test_big_results_come_through_whole():
    """More than any pipe holds, in one result and in many."""
    numbers = list(range(200_000))
    assert json.loads(results(".", json.dumps(numbers), timeout=60)) == numbers
    assert results(".[]", json.dumps(numbers), timeout=60) == "".join(f"{n}\n" for n in numbers)


def test_a_program_that_crashes_is_a_fault_of_jqs(monkeypatch):
    """A child that dies by a signal is told as what it is, and nothing hangs."""
    monkeypatch.setattr(jq, "_print_results", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(errors.Internal, match="jq ended with status -9"):
        jq.Program(".", timeout=20).run("null", write=lambda _: None)


def test_a_fault_in_the_child_stays_in_the_child(monkeypatch):
    """Whatever is raised there, the child ends without returning into the caller's stack."""
    monkeypatch.setattr(jq, "_print_results", lambda *_: 1 / 0)
    with pytest.raises(errors.Internal, match="status 2"):
        jq.Program(".", timeout=20).run("null", write=lambda _: None)


@pytest.mark.usefixtures("leaves_no_process")
def test_the_child_is_ended_when_the_reader_fails():
    """A closed pipe or Ctrl-C in the parent leaves no process behind."""

    def fail(_: bytes) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jq.Program("repeat(1)", timeout=20).run("null", write=fail)


def test_no_descriptor_is_left_open():
    """Many programs in one process do not use it up."""
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        results(".total")
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit on the processor's time ends it, later")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_child_ends_with_its_parent(number):
    """However the parent is ended, a program that would run for ever does not go on alone."""
    code = """
from akka_optimize.output import jq
program = jq.Program("range(infinite) | select(. < 1)", timeout=3600)
print(program._child, flush=True)
program.run("null", write=lambda chunk: print("begun", flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert parent.stdout.readline() == "begun\n"
            parent.send_signal(number)
            assert parent.wait(60) == -number
            assert select.select([child], [], [], 30)[0] == [child]
        finally:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(child, signal.SIGKILL)
            os.close(child)


def test_the_time_of_the_processor_is_bounded_too(monkeypatch):
    """A child that nobody watches is ended by the system, and one that is watched is told as late."""

    def look_away(self, document, write):
        os.write(self._document, document)
        self._close(self._document)
        return b""

    monkeypatch.setattr(jq, "SPARE", 0)
    monkeypatch.setattr(jq.Program, "_relay", look_away)
    program = jq.Program("range(infinite) | select(. < 0)", timeout=1)
    watchdog = threading.Timer(30, os.kill, [program._child, signal.SIGKILL])
    watchdog.start()
    try:
        with pytest.raises(errors.TimedOut, match="did not finish within 1s"):
            program.run("null", write=lambda _: None)
    finally:
        watchdog.cancel()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="what the child takes already is not told here")
@pytest.mark.parametrize(
    "program",
    [
        "[range(1e9)] | length",
        '"x" * 1e9 | length',
        "[limit(1e8; repeat([[]]))]",
        "def f: [f]; f",
        "[range(1e8)] | add",
    ],
)
def test_a_program_that_takes_too_much_memory_is_ended(program, monkeypatch, capfd):
    """One plain sentence, exit 1, and jq's own words nowhere."""
    monkeypatch.setattr(jq, "MEMORY", 1 << 26)
    with pytest.raises(errors.Exhausted) as failure:
        jq.Program(program, timeout=60).run("null", write=lambda _: None)
    assert failure.value.message == "--jq: the program needs more memory than 0.0625 GiB"
    assert failure.value.exit_code == 1
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("program", ["1 # \\", "1 # \\\\", "1 # \\\\\\", "1 # \\\r", "1 #", "# first\n1"])
def test_a_comment_ends_where_the_program_ends(program):
    """Also one with a backslash at its end, which continues a comment on the next line."""
    assert results(program) == "1\n"


def test_a_place_is_one_in_the_users_own_program(monkeypatch):
    """A fault that only shows in the text around the program is told without a place."""
    monkeypatch.setattr(jq, "_printing", lambda program: f"({program}\n\n))")
    with pytest.raises(errors.WrongUsage) as refusal:
        jq.check(".")
    assert refusal.value.message == "--jq: syntax error, unexpected INVALID_CHARACTER, expecting end of file"
