"""The folder that a trainer lives in.

version          the format of this folder
catalog.sqlite   everything that is looked up
datasets/        rows by content hash
runs/            one folder a run
uploads/         what is still arriving
locks/           who is at work on what
unclosed/        one empty file for each run whose record lacks its last files
workers          how many runs are trained at once, where somebody said so
"""

from __future__ import annotations

import fcntl
import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, overload

from akka_optimize import errors
from akka_optimize.trainer import arrivals, files, uploads

VERSION = 1
FOLDERS = ("datasets", "runs", "uploads", "locks", "unclosed")
MARKER_BESIDE = ".version-"
MOST_DIGITS = 9  # of a version; Python refuses to convert thousands


class Lock:
    """One name that this process alone holds, until `release` or until the process ends, by whatever means."""

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor: int | None = descriptor
        _HELD.add(self)

    def fileno(self) -> int:
        """The open file that the lock belongs to: a process that inherits it holds the lock too."""
        assert self._descriptor is not None, "the lock was released"
        return self._descriptor

    def release(self) -> None:
        """Let go; a second time changes nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()


_HELD: weakref.WeakSet[Lock] = weakref.WeakSet()


def _let_go_in_child() -> None:
    # A lock belongs to the open file, which a forked child shares: it would outlive the process that took it.
    for lock in list(_HELD):
        lock.release()


os.register_at_fork(after_in_child=_let_go_in_child)


@dataclass(frozen=True, slots=True)
class Home:
    """A trainer's folder; `Home.open` makes it."""

    path: Path

    @property
    def catalog(self) -> Path:
        """The database file."""
        return self.path / "catalog.sqlite"

    @property
    def datasets(self) -> Path:
        """Rows, one file a dataset."""
        return self.path / "datasets"

    @property
    def runs(self) -> Path:
        """One folder a run."""
        return self.path / "runs"

    @property
    def uploads(self) -> Path:
        """Bytes that are still arriving, and files that are not finished."""
        return self.path / "uploads"

    @property
    def locks(self) -> Path:
        """One file a lock; never removed, since another process may hold it."""
        return self.path / "locks"

    @property
    def unclosed(self) -> Path:
        """One empty file for each run whose record is open."""
        return self.path / "unclosed"

    @classmethod
    def open(cls, path: Path | str) -> Home:
        """The home at `path`, made with mode 0700 where there is none.

        Raises Invalid (not a path), Refused (cannot be used, is something else, or was made by a newer version) and
        Exhausted (no room).
        """
        if not os.fspath(path) or "\0" in os.fspath(path):
            raise errors.Invalid(f"{os.fspath(path)!r} is not the path of a trainer home", field="home")
        home = cls(Path(path).absolute())
        with files.translated(home.path):
            _make(home.path)
        _check_writable(home, home.path)
        _check_version(home.path)
        for name in FOLDERS:
            _make_folder(home.path / name)
        _check_writable(home, *(home.path / name for name in FOLDERS), home.catalog)
        uploads.sweep(home)
        arrivals.sweep(home)
        return home

    @overload
    def lock(self, name: str, *, wait: Literal[True]) -> Lock:
        """With `wait`, there is always a lock in the end."""

    @overload
    def lock(self, name: str, *, wait: bool = False) -> Lock | None:
        """Without, there may be none."""

    def lock(self, name: str, *, wait: bool = False) -> Lock | None:
        """Take the lock `name`; None when another holder has it and `wait` is not set.

        Another holder is any other process, and any other call in this one.
        """
        path = self.locks / name
        with files.translated(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                os.close(descriptor)
                return None
            except BaseException:
                os.close(descriptor)
                raise
        return Lock(name, descriptor)


def _make(path: Path) -> None:
    """Create the folder and its parents, all closed to others."""
    for folder in reversed([path, *path.parents]):
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            if not folder.is_dir():
                raise errors.Refused(f"{folder} is not a folder, so no trainer home can be at {path}") from None


def _make_folder(path: Path) -> None:
    """Create one of the home's own folders, unless it is there."""
    with files.translated(path):
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            if not path.is_dir():
                raise errors.Refused(
                    f"{path} is not a folder, and a trainer home has one there", hint="move it away, then try again"
                ) from None


def _check_writable(home: Home, *places: Path) -> None:
    """Refuse a home in which nothing can be kept, before anything is half done."""
    for path in places:
        if not os.access(path, os.W_OK) and path.exists():
            raise errors.Refused(
                f"the trainer home {home.path} is not writable: this user may not write {path}",
                hint=f"{files.RIGHTS}, or name another home with TRAINER_URL=local:DIR",
            )


def _check_version(path: Path) -> None:
    """Refuse a newer home and somebody else's folder; mark an empty one as ours."""
    marker = path / "version"
    if not os.path.lexists(marker):
        with files.translated(path):
            _mark(path, marker)
    with files.translated(marker):
        text = marker.read_text("ascii", errors="replace").strip()
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise errors.Refused(f"{marker} does not hold a version number, so {path} is not read as a trainer home")
    if int(text) > VERSION:
        raise errors.Refused(
            f"{path} has format {text}, made by a newer akka-optimize; this one reads formats up to {VERSION}",
            hint="upgrade akka-optimize, or use another home",
        )


def _mark(path: Path, marker: Path) -> None:
    """Take an empty folder. Raises Refused when it is not."""
    found = [name for name in os.listdir(path) if not name.startswith(MARKER_BESIDE)]
    if marker.exists():  # another process was quicker, and what was found is its
        return
    if found:
        raise errors.Refused(f"{path} is not a trainer home, and is not empty", hint="name an empty or a new folder")
    path.chmod(0o700)
    beside = path / f"{MARKER_BESIDE}{os.getpid()}"
    beside.write_text(f"{VERSION}\n", "ascii")
    files.install(beside, marker)
