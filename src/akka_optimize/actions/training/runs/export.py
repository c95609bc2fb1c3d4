"""Write the folders of a run and its ancestors to a directory: each whole, or not at all.

What arrives is not trusted: names lead nowhere else, nothing that is there is replaced, and a folder appears under its
name only once its files are the ones that its checksums list.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from akka_optimize.errors import Conflict, Exhausted, Interrupted, Invalid, Refused
from akka_optimize.record import layout, paths, travel
from akka_optimize.records import Exported, ExportPart

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def export_run(self, ref: str) -> Iterator[ExportPart]:
        """The folders of a run and its ancestors, roots first, file by file; the checksums of each come first."""
        ...


def export(trainer: Trainer, run: str, directory: str) -> Exported:
    """Write the folders of `run` and all that it descends from into `directory`, which is made where it is missing.

    A folder that is there with the same checksums is left alone. Raises NotFound, Ambiguous, Refused (a record that is
    not closed or not sound; the directory), Conflict (a folder with other content), Exhausted (disk), Invalid (what
    arrived is not what it should be), Interrupted.
    """
    into = Path(directory)
    found = Exporting(into)
    with _translated(into):
        try:
            found.take(trainer.export_run(run))
        except KeyboardInterrupt:
            raise Interrupted(
                "interrupted while the folders were written", hint="the same command again leaves alone what is whole"
            ) from None
    return Exported(directory, tuple(map(paths.run_id_of, found.names)), found.names, found.existing, found.bytes)


class Exporting:
    """A directory, and what has arrived for it so far."""

    def __init__(self, into: Path) -> None:
        self._into = into
        self.names: tuple[str, ...] = ()
        self.existing: tuple[str, ...] = ()
        self.bytes = 0

    def take(self, parts: Iterable[ExportPart]) -> None:
        """Write everything that arrives. Raises as `export` does."""
        folder: _Folder | None = None
        try:
            for part in parts:
                if folder is None or part.folder != folder.name:
                    self._finish(folder)
                    folder = None
                    folder = self._begin(part)
                folder.add(part)
            self._finish(folder)
            folder = None
        finally:
            if folder is not None:
                folder.drop()

    def _begin(self, part: ExportPart) -> _Folder:
        paths.run_id_of(part.folder)
        if part.folder in self.names:
            raise Invalid(f"folder {part.folder} arrived twice", field="folder")
        self._into.mkdir(parents=True, exist_ok=True)
        return _Folder(self._into, part.folder)

    def _finish(self, folder: _Folder | None) -> None:
        if folder is None:
            return
        self.bytes += folder.finish()
        self.names += (folder.name,)
        if folder.is_there:
            self.existing += (folder.name,)


class _Folder:
    """One folder that is arriving, beside its place; nothing of it is kept where the same is in place already."""

    def __init__(self, into: Path, name: str) -> None:
        """Raises OSError."""
        self.name, self.is_there = name, False
        self._place, self._beside = into / name, into / f"{layout.UNFINISHED}{name}"
        self._path: str | None = None
        self._stream: BinaryIO | None = None
        self._written = 0
        self.drop()  # of an export that was killed
        self._beside.mkdir()

    def add(self, part: ExportPart) -> None:
        """One more piece. Raises Invalid, Conflict, OSError."""
        if part.path is not None:
            self._end_file()
            self._begin_file(part.path)
        if self._path is None:
            raise Invalid(f"what arrived of folder {self.name} begins in the middle of a file", field="path")
        if self._stream is not None:
            self._written += self._stream.write(part.data)

    def finish(self) -> int:
        """Move the folder to its place, unless the same is there; bytes written. Raises Invalid, Conflict, OSError."""
        self._end_file()
        if not self.is_there:
            _require_sound(self._beside, self.name)
            _flush(self._beside)
            self._beside.rename(self._place)
            _flush_one(self._place.parent)
            return self._written
        self.drop()
        return 0

    def drop(self) -> None:
        """Remove what is beside the place. Raises OSError."""
        if self._stream is not None:
            self._stream.close()
        if self._beside.is_symlink() or self._beside.is_file():
            self._beside.unlink()
        elif self._beside.exists():
            shutil.rmtree(self._beside)

    def _begin_file(self, path: str) -> None:
        if (self._path is None) != (path == layout.CHECKSUMS):
            raise Invalid(f"the checksums of folder {self.name} did not arrive before all else, and once", field="path")
        paths.check_file(path)
        self._path = path
        if not self.is_there:
            place = self._beside / path
            place.parent.mkdir(parents=True, exist_ok=True)
            self._stream = place.open("xb")

    def _end_file(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
            if self._path == layout.CHECKSUMS and os.path.lexists(self._place):
                self._require_same()
                self.is_there = True

    def _require_same(self) -> None:
        there = self._place / layout.CHECKSUMS
        alike = not self._place.is_symlink() and there.is_file() and not there.is_symlink()
        if not alike or there.read_bytes() != (self._beside / layout.CHECKSUMS).read_bytes():
            raise Conflict(
                f"{self._place} is there already, with other content",
                field="directory",
                hint="export to another directory, or move it away",
            )


def _require_sound(folder: Path, name: str) -> None:
    from akka_optimize.record.verify import verify

    if (wrong := travel.amiss(verify(folder, name=name))) is not None:
        raise Invalid(f"what arrived of {name} is damaged: {wrong}", field="folder", hint="export it again")


def _flush(folder: Path) -> None:
    """Make the folder, and all in it, last through a loss of power."""
    for place in (*folder.rglob("*"), folder):
        _flush_one(place)


def _flush_one(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated(into: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        if error.errno in NO_ROOM:
            raise Exhausted(f"{into} cannot be written: {reason}", hint="make room there, and export again") from error
        raise Refused(f"{error.filename or into} cannot be written: {reason}", field="directory") from error
