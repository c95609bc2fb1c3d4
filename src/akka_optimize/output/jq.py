"""jq programs over a JSON document: strings raw, every other result as compact JSON, one result a line.

The binding cannot be interrupted, shows a program the environment, and drops what `halt_error` says. So a program is
compiled here first, before any request is sent, and runs in a forked child whose environment is empty, which is ended
when the time is up, and which neither outlives its parent nor takes all memory. The child is forked before any client
is made, and waits for the document: a client has threads, which a fork would leave half-way. Numbers keep the text that
jq gives them.
"""

from __future__ import annotations

import faulthandler
import math
import os
import select
import signal
import time
import warnings
from collections.abc import Callable, Iterable

from akka_optimize import errors
from akka_optimize.output import confinement
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
DONE, FAILED, CRASHED, NO_MEMORY = 0, 1, 2, 3
MEMORY = 2 * confinement.GIB  # bytes that a program may take, its document included
SPARE = 2  # seconds of processor time beyond the timeout, for a child whose parent does not end it
JQ_NO_MEMORY = b"cannot allocate memory"


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
            fault = _first_fault(str(error))
            if text is not program:  # a place in our text is none in theirs
                fault = fault.partition(", at ")[0]
            raise errors.WrongUsage(f"--jq: {fault}") from None


def _printing(program: str) -> str:
    """The program with each result turned into the text to print, and nothing in `env` and `$ENV`.

    The names are hidden here too, as a library in C may have set variables that `os.environ` never saw. The newlines
    end a comment of the program's; one that a backslash ends goes on over the first of them.
    """
    return f'{{}} as $ENV | def env: $ENV; ({program}\n\n) | if type == "string" then . else tojson end'


def _first_fault(message: str) -> str:
    if "program not given" in message:
        return "the program is empty"
    first = message.partition("\n")[0].removeprefix("jq: error: ").rstrip(":")
    return first.replace(" at <top-level>, line 1, column", ", at character").replace(" at <top-level>,", ", at")


class Program:
    """A program in a process of its own, waiting for the one document that it will read.

    `timeout`: seconds that jq may take. Raises WrongUsage, as `check`.
    """

    def __init__(self, program: str, *, timeout: float) -> None:
        check(program)
        self._timeout = timeout
        document, self._document = os.pipe()
        self._results, results = os.pipe()
        self._fault, fault = os.pipe()
        self._ends = {self._document, self._results, self._fault}
        parent = os.getpid()
        with warnings.catch_warnings():
            # Only a program that embeds this one may have threads by now; the child touches nothing of theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._child: int | None = os.fork()
        if self._child == 0:
            for end in self._ends:
                os.close(end)
            _child(program, document, results, fault, parent=parent, seconds=math.ceil(timeout) + SPARE)
        for end in (document, results, fault):
            os.close(end)

    def run(self, document: str, *, write: Callable[[bytes], None]) -> None:
        """Pass each result to `write` as a line of UTF-8, as they come; the program is over then.

        The time spent in `write` does not count. Raises TimedOut, Invalid (an error of the program's, after the results
        before it), Exhausted (its memory), Internal (a crash).
        """
        try:
            message = self._relay(document.encode("utf-8", "replace"), write)
            status = self._reap()
        finally:
            self.close()
        if status == FAILED:
            raise errors.Invalid(f"--jq: {message.decode('utf-8', 'replace')}")
        if status == NO_MEMORY or JQ_NO_MEMORY in message:
            raise errors.Exhausted(f"--jq: the program needs more memory than {MEMORY / confinement.GIB:g} GiB")
        if status == -signal.SIGXCPU:
            raise self._late()
        if status != DONE:
            raise errors.Internal(f"--jq: jq ended with status {status} before it had finished")

    def close(self) -> None:
        """End the process, if it has not ended."""
        if self._child is not None:
            os.kill(self._child, signal.SIGKILL)
            self._reap()

    def _reap(self) -> int:
        assert self._child is not None
        child, self._child = self._child, None
        for end in [*self._ends]:
            self._close(end)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def _close(self, end: int) -> None:
        self._ends.remove(end)
        os.close(end)

    def _late(self) -> errors.TimedOut:
        return errors.TimedOut(
            f"--jq: the program did not finish within {self._timeout:g}s", hint="allow it more with --timeout"
        )

    def _relay(self, document: bytes, write: Callable[[bytes], None]) -> bytes:
        """Hand over the document, and pass on what comes until the child ends; the message of its error, if any."""
        unsent, left, message = memoryview(document), self._timeout, b""
        os.set_blocking(self._document, False)
        waiting = {self._document: select.POLLOUT, self._results: select.POLLIN, self._fault: select.POLLIN}
        poll = select.poll()
        for end, event in waiting.items():
            poll.register(end, event)
        while waiting:
            before = time.monotonic()
            ready = poll.poll(max(0.0, left) * 1000)
            left -= time.monotonic() - before
            if not ready:
                raise self._late()
            for end, _ in ready:
                if end == self._document:
                    unsent = _unsent(end, unsent)
                    over = not unsent
                else:
                    chunk = os.read(end, CHUNK)
                    over = not chunk
                    if end == self._fault:
                        message += chunk
                    elif chunk:
                        write(chunk)
                if over:
                    poll.unregister(end)
                    del waiting[end]
                    self._close(end)
        return message


def _unsent(end: int, content: memoryview) -> memoryview:
    """What is left once the pipe has taken what it can; nothing, when nobody reads it any more."""
    try:
        return content[os.write(end, content) :]
    except BrokenPipeError:
        return content[:0]


def _child(program: str, document: int, results: int, fault: int, *, parent: int, seconds: int) -> None:
    """Run the program and end the process, without a return to the caller's stack whatever happens."""
    code = CRASHED
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        faulthandler.disable()
        os.dup2(fault, 2)  # where jq says why it gives up
        confinement.end_with(parent)
        confinement.limit(seconds=seconds, memory=MEMORY)
        os.environ.clear()
        import jq

        compiled = jq.compile(_printing(program))
        with open(document, encoding="utf-8") as source:
            text = source.read()
        try:
            _print_results(compiled.input_text(text), results)
            code = DONE
        except ValueError as error:
            _write(fault, str(error).encode("utf-8", "replace"))
            code = FAILED
    except MemoryError:
        code = NO_MEMORY
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
