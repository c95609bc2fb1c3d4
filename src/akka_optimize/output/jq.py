"""jq programs over a JSON document: strings raw, every other result as compact JSON, one result a line.

The binding cannot be interrupted, shows a program the environment, and drops what `halt_error` says. So a program is
compiled here first, before any request is sent; it runs in a forked child whose environment is empty, and the child is
ended when the time is up. Numbers keep the text that jq gives them.
"""

from __future__ import annotations

import os
import select
import signal
import time
import warnings
from collections.abc import Callable, Iterable

from akka_optimize import errors
from akka_optimize.output.jqwords import called

NO_SECOND_DOCUMENT = "it reads a further document, and a command prints only one"
NO_OTHER_FILES = "a program here is one expression, which loads no other file"
UNSEEN = "what it prints would not be seen"
REFUSED = {
    "input": NO_SECOND_DOCUMENT,
    "inputs": NO_SECOND_DOCUMENT,
    "halt_error": "its message would be lost; use error",
    "debug": UNSEEN,
    "stderr": UNSEEN,
    "import": NO_OTHER_FILES,
    "include": NO_OTHER_FILES,
    "module": NO_OTHER_FILES,
}
CHUNK = 1 << 16  # bytes
PROMPT = 1000  # results that are passed on at once, before they are gathered
FLUSH_AFTER = 0.05  # seconds that a gathered result may wait for the next one
DONE, FAILED = 0, 1


def check(program: str) -> None:
    """Refuse a program that cannot run. Raises WrongUsage, which names the fault and its place."""
    for word in called(program):
        if word in REFUSED:
            raise errors.WrongUsage(f"--jq: {word} cannot be used here: {REFUSED[word]}")
    import jq

    if "\0" in program:
        raise errors.WrongUsage("--jq: the program holds a NUL character")
    for text in (program, _printing(program)):
        try:
            jq.compile(text)
        except UnicodeEncodeError:
            raise errors.WrongUsage("--jq: the program is not UTF-8") from None
        except ValueError as error:
            raise errors.WrongUsage(f"--jq: {_first_fault(str(error))}") from None


def _printing(program: str) -> str:
    """The program with each result turned into the text to print, and nothing in `env` and `$ENV`.

    The names are hidden here too because a library in C may have set variables that `os.environ` never saw. The newline
    ends a comment of the program's.
    """
    return f'{{}} as $ENV | def env: $ENV; ({program}\n) | if type == "string" then . else tojson end'


def _first_fault(message: str) -> str:
    if "program not given" in message:
        return "the program is empty"
    first = message.partition("\n")[0].removeprefix("jq: error: ").rstrip(":")
    return first.replace(" at <top-level>, line 1, column", ", at character").replace(" at <top-level>,", ", at")


def run(program: str, document: str, *, timeout: float, write: Callable[[bytes], None]) -> None:
    """Pass each of the program's results to `write` as a line of UTF-8, as they come.

    The program must have passed `check`. `timeout`: seconds that jq may take; the time spent in `write` does not
    count. Raises TimedOut, Invalid (an error of the program's, after the results before it), Internal (a crash).
    """
    results, results_in = os.pipe()
    fault, fault_in = os.pipe()
    with warnings.catch_warnings():
        # A transport may have threads; the child touches nothing of theirs.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _child(program, document, results_in, fault_in)
    os.close(results_in)
    os.close(fault_in)
    status = None
    try:
        message = _relay(results, fault, timeout, write)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        os.close(results)
        os.close(fault)
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if status == FAILED:
        raise errors.Invalid(f"--jq: {message.decode('utf-8', 'replace')}")
    if status != DONE:
        raise errors.Internal(f"--jq: jq ended with status {status} before it had finished")


def _relay(results: int, fault: int, timeout: float, write: Callable[[bytes], None]) -> bytes:
    """Pass on what the child prints until it ends; the message of its error, if any."""
    waiting = select.poll()
    for end in (results, fault):
        waiting.register(end, select.POLLIN)
    left, opened, message = timeout, 2, b""
    while opened:
        before = time.monotonic()
        ready = waiting.poll(max(0.0, left) * 1000)
        left -= time.monotonic() - before
        if not ready:
            raise errors.TimedOut(
                f"--jq: the program did not finish within {timeout:g}s", hint="allow it more with --timeout"
            )
        for end, _ in ready:
            chunk = os.read(end, CHUNK)
            if not chunk:
                waiting.unregister(end)
                opened -= 1
            elif end == fault:
                message += chunk
            else:
                write(chunk)
    return message


def _child(program: str, document: str, results: int, fault: int) -> None:
    """Run the program and end the process, without a return to the caller's stack whatever happens."""
    code = FAILED + 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ.clear()
        import jq

        try:
            _print_results(jq.compile(_printing(program)).input_text(document), results)
            code = DONE
        except ValueError as error:
            _write(fault, str(error).encode("utf-8", "replace"))
            code = FAILED
    finally:
        os._exit(code)


def _print_results(found: Iterable[str], results: int) -> None:
    pending: list[bytes] = []
    size, flushed = 0, 0.0
    try:
        for number, result in enumerate(found):
            line = result.encode("utf-8", "replace") + b"\n"
            pending.append(line)
            size += len(line)
            if number < PROMPT or size >= CHUNK or time.monotonic() - flushed > FLUSH_AFTER:
                _write(results, b"".join(pending))
                pending, size, flushed = [], 0, time.monotonic()
    finally:
        _write(results, b"".join(pending))


def _write(end: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(end, view) :]
