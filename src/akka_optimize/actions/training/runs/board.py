"""The program `tensorboard`, opened on a folder of event files."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from akka_optimize import errors

PROGRAM = "tensorboard"
HOST = "127.0.0.1"
START_SECONDS = 60.0
STOP_SECONDS = 5.0
WITHOUT = "--sync-only writes the event files and opens nothing"


def require_program() -> str:
    """Where the program is. Raises Refused."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise errors.Refused(f"no program `{PROGRAM}` is on PATH", hint=f"pip install tensorboard; or {WITHOUT}")
    return found


def free_port(wanted: int) -> int:
    """The port itself where it is free, any free one for 0. Raises Refused."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except OSError as error:
            raise errors.Refused(
                f"TensorBoard cannot listen on port {wanted}: {(error.strerror or str(error)).lower()}",
                hint=f"name another one with --port, 0 being any that is free; or {WITHOUT}",
            ) from None
        return int(probe.getsockname()[1])


class Board:
    """A TensorBoard of this process's own; what it prints is told to `say`, and it ends when the context does."""

    def __init__(self, program: str, folder: Path, port: int, say: Callable[[str], None]) -> None:
        self._command = [program, "--logdir", str(folder), "--host", HOST, "--port", str(port)]
        self._port, self._say = port, say
        self._printed: deque[str] = deque(maxlen=20)
        self._process: subprocess.Popen[str] | None = None
        self._reader = threading.Thread(target=self._tell, daemon=True)

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://localhost:{self._port}/"

    def __enter__(self) -> Board:
        """Start it, and return once it answers. Raises Refused (it ended instead), TimedOut."""
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._reader.start()
        try:
            self._await_answer()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ended(self, within: float) -> bool:
        """Has it ended, now or in the seconds to come? Raises Refused where it did with a fault."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(within)
            self._reader.join(STOP_SECONDS)
            if code:
                raise self._fault(code)
            return True
        return False

    def _await_answer(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self.ended(within=0.05):
            with suppress(OSError), socket.create_connection((HOST, self._port), timeout=1.0):
                return
            if time.monotonic() > deadline:
                raise errors.TimedOut(f"TensorBoard did not answer at {self.url} within {START_SECONDS:g} s")
        raise self._fault(0)

    def _fault(self, code: int) -> errors.Refused:
        last = next((line for line in reversed(self._printed) if line.strip()), "it printed nothing")
        return errors.Refused(f"TensorBoard ended with the exit code {code}: {last}", hint=WITHOUT)

    def _tell(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed.append(line.rstrip("\n"))
            self._say(self._printed[-1])

    def _stop(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join(STOP_SECONDS)
        if not self._reader.is_alive():  # a child of its own may hold the pipe still
            self._process.stdout.close()
