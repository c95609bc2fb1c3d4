"""The trainer's folder, and the locks in it."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support import processes

from akka_optimize import errors
from akka_optimize.trainer.home import VERSION, Home

HOLD = """
import sys
from akka_optimize.trainer.home import Home
lock = Home.open(sys.argv[1]).lock("worker")
print("held" if lock else "refused", flush=True)
sys.stdin.read()
"""
TRY = """
import sys
from akka_optimize.trainer.home import Home
print("free" if Home.open(sys.argv[1]).lock("worker") else "held")
"""
WAIT = """
import sys
from akka_optimize.trainer.home import Home
home = Home.open(sys.argv[1])
print("waiting", flush=True)
with home.lock("worker", wait=True):
    print("held", flush=True)
"""
FULL = """
import resource, sys
from akka_optimize import errors
from akka_optimize.trainer.home import Home
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    Home.open(sys.argv[1])
except errors.Exhausted as error:
    print(error.message)
"""
FORK = """
import os, sys
from akka_optimize.trainer.home import Home
lock = Home.open(sys.argv[1]).lock("worker")
assert lock
if os.fork() == 0:
    sys.stdin.read()
    os._exit(0)
print("held", flush=True)
os.kill(os.getpid(), 9)
"""


def mode(path: Path) -> int:
    """The permission bits of a path."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_home_is_closed_to_others(tmp_path: Path) -> None:
    """The home and every folder that had to be made for it have mode 0700, whatever the umask is."""
    before = os.umask(0)
    try:
        home = Home.open(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert [mode(path) for path in (tmp_path / "a", home.path, home.runs, home.locks)] == [0o700] * 4
    assert (home.path / "version").read_text() == f"{VERSION}\n"


def test_an_empty_folder_becomes_a_closed_home(tmp_path: Path) -> None:
    """An empty folder that was there is taken, and closed."""
    tmp_path.chmod(0o755)
    assert mode(Home.open(tmp_path).path) == 0o700


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    """A home's own mode and marker stand when it is opened again."""
    home = Home.open(tmp_path / "home")
    home.path.chmod(0o750)
    assert Home.open(home.path) == home
    assert mode(home.path) == 0o750


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that runs elsewhere finds the same home."""
    monkeypatch.chdir(tmp_path)
    assert Home.open("home").path == tmp_path / "home"


def test_many_processes_make_one_home(tmp_path: Path) -> None:
    """Processes that open a fresh home at the same moment all succeed, whoever made it."""
    started = [processes.start(TRY, tmp_path / "deep" / "home") for _ in range(6)]
    assert {processes.output(process) for process in started} <= {"free\n", "held\n"}


def test_a_newer_home_is_refused(tmp_path: Path) -> None:
    """A home of a later format is left alone, and the message says both formats."""
    home = Home.open(tmp_path / "home")
    (home.path / "version").write_text(f"{VERSION + 1}\n")
    with pytest.raises(errors.Refused, match=rf"format {VERSION + 1}, .* up to {VERSION}"):
        Home.open(home.path)


@pytest.mark.parametrize("text", ["", "one\n", "-1", "1.0"])
def test_a_broken_marker_is_refused(tmp_path: Path, text: str) -> None:
    """A marker that holds no version is named."""
    home = Home.open(tmp_path / "home")
    (home.path / "version").write_text(text)
    with pytest.raises(errors.Refused, match="version number"):
        Home.open(home.path)


def test_somebody_elses_folder_is_refused(tmp_path: Path) -> None:
    """A folder that holds other things does not become a home, and stays as it was."""
    (tmp_path / "thesis.txt").touch()
    tmp_path.chmod(0o755)
    with pytest.raises(errors.Refused, match="not a trainer home"):
        Home.open(tmp_path)
    assert (os.listdir(tmp_path), mode(tmp_path)) == (["thesis.txt"], 0o755)


def test_a_file_is_no_home(tmp_path: Path) -> None:
    """Neither a file nor a path below one can be a home; the message names the file."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(errors.Refused, match=f"{tmp_path}/file is not a folder"):
            Home.open(path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param("/proc/akka-home", errors.Refused, id="nothing-can-be-made-there"),
        pytest.param("/tmp/" + "x" * 300, errors.Refused, id="name-too-long"),
        pytest.param("", errors.Invalid, id="empty"),
        pytest.param("a\0b", errors.Invalid, id="nul"),
    ],
)
def test_a_path_that_cannot_be_a_home_is_refused(path: str, kind: type[errors.AkkaError]) -> None:
    """The system's refusal arrives as this package's error, with the path in it."""
    with pytest.raises(kind, match=r"home|xxx"):
        Home.open(path)


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    """Where not even the marker can be written, the message names the home, which works once there is room."""
    assert processes.run(FULL, tmp_path / "home").startswith(f"{tmp_path}/home cannot be written")
    assert Home.open(tmp_path / "home")


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    """What one holds, nobody else gets, in this process or another, until it is released."""
    home = Home.open(tmp_path / "home")
    with home.lock("worker") as held:
        assert held is not None
        assert home.lock("worker") is None
        assert home.lock("other") is not None
        assert processes.run(TRY, home.path) == "held\n"
    assert processes.run(TRY, home.path) == "free\n"
    held.release()
    assert home.lock("worker") is not None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM], ids=lambda number: number.name)
def test_a_lock_ends_with_its_process(tmp_path: Path, number: signal.Signals) -> None:
    """Whatever signal ends the holder, the lock is free at once."""
    home = Home.open(tmp_path / "home")
    holder = processes.start(HOLD, home.path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert home.lock("worker") is None
    holder.send_signal(number)
    holder.communicate(timeout=processes.PATIENCE_SECONDS)
    assert home.lock("worker") is not None


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A child that a dead holder left behind does not stand for it."""
    home = Home.open(tmp_path / "home")
    holder = processes.start(FORK, home.path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert holder.wait(processes.PATIENCE_SECONDS) == -signal.SIGKILL  # while the child waits for the end of input
    deadline = time.monotonic() + processes.PATIENCE_SECONDS
    while (lock := home.lock("worker")) is None:  # until the child has run the hook that drops its copy
        assert time.monotonic() < deadline
    lock.release()
    holder.communicate("", timeout=processes.PATIENCE_SECONDS)


def test_a_forked_child_does_not_release_the_lock(tmp_path: Path) -> None:
    """What a child does to its copy leaves the parent's lock alone."""
    home = Home.open(tmp_path / "home")
    with home.lock("worker", wait=True) as lock:
        child = os.fork()
        if child == 0:
            lock.release()
            os._exit(0)
        os.waitpid(child, 0)
        assert processes.run(TRY, home.path) == "held\n"


def test_a_program_that_is_started_does_not_keep_the_lock(tmp_path: Path) -> None:
    """No descriptor of a lock reaches another program, not even one that asks for all of them."""
    home = Home.open(tmp_path / "home")
    lock = home.lock("worker", wait=True)
    other = processes.subprocess.Popen(["cat"], stdin=processes.subprocess.PIPE, close_fds=False)
    lock.release()
    assert home.lock("worker") is not None
    other.communicate(b"")


def test_waiting_ends_when_the_holder_lets_go(tmp_path: Path) -> None:
    """A waiter gets the lock, and only after the holder."""
    home = Home.open(tmp_path / "home")
    lock = home.lock("worker", wait=True)
    waiter = processes.start(WAIT, home.path)
    assert waiter.stdout is not None
    assert waiter.stdout.readline() == "waiting\n"
    assert waiter.poll() is None
    lock.release()
    assert processes.output(waiter) == "held\n"


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        pytest.param("version", lambda path: (path.unlink(), path.mkdir()), id="a-folder-for-the-marker"),
        pytest.param("locks", lambda path: (path.rmdir(), path.touch()), id="a-file-for-the-locks"),
        pytest.param("version", lambda path: path.write_text("9" * 5000), id="a-version-of-5000-digits"),
    ],
)
def test_what_is_wrong_in_a_home_is_named(tmp_path: Path, name: str, spoil: Callable[[Path], object]) -> None:
    """The message has the very path, and not only the home's."""
    home = Home.open(tmp_path / "home")
    spoil(home.path / name)
    with pytest.raises(errors.Refused, match=f"{home.path}/{name} "):
        Home.open(home.path)


def test_a_folder_among_the_uploads_is_in_nobodys_way(tmp_path: Path) -> None:
    """What cannot be swept stays, and the home can be opened; what can be swept goes all the same."""
    home = Home.open(tmp_path / "home")
    (home.uploads / "notes" / "inner").mkdir(parents=True)
    (home.uploads / "old").touch()
    for name in ("notes", "old"):
        os.utime(home.uploads / name, (0, 0))
    Home.open(home.path)
    assert os.listdir(home.uploads) == ["notes"]


@pytest.mark.parametrize("name", ["", "runs", "catalog.sqlite"])
def test_a_home_that_is_not_writable_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The message says so and where, and the hint what can be done; nothing is changed."""
    home = Home.open(tmp_path / "home")
    home.catalog.touch()
    before, allowed = sorted(os.listdir(home.path)), os.access
    closed = home.path / name
    monkeypatch.setattr(os, "access", lambda path, mode: allowed(path, mode) and Path(path) != closed)
    with pytest.raises(errors.Refused, match=rf"{home.path} is not writable: .* {closed}$") as caught:
        Home.open(home.path)
    assert "TRAINER_URL" in str(caught.value.hint)
    assert sorted(os.listdir(home.path)) == before
