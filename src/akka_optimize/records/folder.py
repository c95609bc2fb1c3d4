"""The folder of a run: what was found in it, and how it travels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akka_optimize.records.run import Run


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that is not as the record says: the file, relative to the folder ("" = the folder), and the problem."""

    file: str
    problem: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking the files of one folder against each other came to; sound when `mismatches` is empty.

    `run_id` and `config_hash` are None where the folder does not say. `files` and `bytes` were read.
    """

    folder: str
    run_id: str | None
    config_hash: str | None
    files: int
    bytes: int
    mismatches: tuple[Mismatch, ...]


@dataclass(frozen=True, slots=True)
class ExportPart:
    """A piece of a file of a folder; the first piece of each file has its `path`, the others have None.

    `folder` is a folder's name, `path` is relative to it, `size` is the whole file's.
    """

    folder: str
    path: str | None
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of a folder that was uploaded; `upload_id` is empty where the trainer is thought to have it already."""

    path: str
    upload_id: str
    sha256: str


@dataclass(frozen=True, slots=True)
class UploadedFolder:
    """A run's folder that was uploaded."""

    name: str
    files: tuple[UploadedFile, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """The folders that an export left in `directory`, roots first: their names, and those that were there already.

    `bytes` were written.
    """

    directory: str
    run_ids: tuple[str, ...]
    folders: tuple[str, ...]
    existing: tuple[str, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Imported:
    """The runs of the folders that were taken in, roots first, and what was there already."""

    runs: tuple[Run, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """The folder that a run is asked for in, as git knows it.

    `diff_sha256` is that of what differs from the commit, None where nothing does; `diff` itself only when asked for.
    """

    commit: str
    diff_sha256: str | None
    diff: bytes | None = None
