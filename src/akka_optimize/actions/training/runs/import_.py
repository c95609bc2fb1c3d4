"""Take folders of runs, as an export or a copy left them, into a trainer's catalog."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from akka_optimize.actions.training.runs import unknown
from akka_optimize.errors import Invalid, NotFound, WrongUsage
from akka_optimize.record import checksums, layout, order, travel
from akka_optimize.record.verify import verify
from akka_optimize.records import Imported, Run, UploadedFile, UploadedFolder

AGAIN = "the folders may be in the catalog; to import them again changes nothing of what is there"
READ_PER_SECOND = 20e6  # bytes that a slow trainer checks
FILES_AT_ONCE = 500  # entries of one list of a request, of which a trainer takes a thousand


class Trainer(Protocol):
    """What of a trainer's client is needed here."""

    def run(self, ref: str) -> Run:
        """One run."""
        ...

    def upload(self, source: BinaryIO) -> tuple[str, str]:
        """Send a file; the upload's id and its sha256."""
        ...

    def import_runs(self, folders: tuple[UploadedFolder, ...], *, patience: float = 0.0) -> Imported:
        """Take uploaded folders."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """A run's folder on this machine: its name in a home, its files by path with their sha256, and its bytes."""

    place: Path
    run_id: str
    name: str
    parent: str | None
    created_at: str
    files: dict[str, str]
    size: int


def import_(trainer: Trainer, directory: str) -> Imported:
    """Take the run's folder, or the folders of runs in, `directory` into the catalog, all or none.

    Each is verified here before anything is sent. Of a run that the trainer has already nothing is sent but what its
    files are. Raises WrongUsage (no such directory), Invalid (a file that does not match; no folder of a run),
    NotFound (a parent that is nowhere), Conflict (a run id with other content), Refused, Exhausted.
    """
    found = _roots_first([_checked(place) for place in _folders(Path(directory))])
    there = {each.run_id for each in found if _knows(trainer, each.run_id)}
    _require_parents(trainer, found)
    folders: list[UploadedFolder] = []
    for each in found:
        folders += _sent(trainer, each, send=each.run_id not in there)
    sent = sum(each.size for each in found if each.run_id not in there)
    with unknown.outcome(AGAIN):
        return trainer.import_runs(tuple(folders), patience=sent / READ_PER_SECOND)


def _folders(directory: Path) -> list[Path]:
    """The run's folder that this is, or those in it. Raises WrongUsage, Invalid (none)."""
    with _readable(directory):
        if directory.is_dir() and (directory / layout.RUN).is_file():
            return [directory]
        found = [place for place in sorted(directory.iterdir()) if not place.name.startswith(layout.UNFINISHED)]
    places = [place for place in found if place.is_dir() and (place / layout.RUN).is_file()]
    if not places:
        raise Invalid(
            f"{directory} is neither the folder of a run nor has it one in it: there is no {layout.RUN}",
            field="directory",
            hint="`training runs export RUN DIR` writes such folders",
        )
    if linked := [place for place in places if place.is_symlink()]:
        raise Invalid(f"{linked[0]} is a link; a run is imported from its own folder", field="directory")
    return places


def _checked(place: Path) -> Found:
    """A folder that holds what its checksums list. Raises Invalid, naming what does not match."""
    found = verify(place)
    if (wrong := travel.amiss(found)) is not None:
        raise Invalid(
            f"{place} is not what its record says: {wrong}",
            field="directory",
            hint=f"`training runs verify {place}` names every file that does not match",
        )
    with _readable(place):
        identity = json.loads((place / layout.RUN).read_bytes())
        content = (place / layout.CHECKSUMS).read_bytes()
    if not (place / layout.DATA).is_file():
        raise Invalid(
            f"{place} holds no rows ({layout.DATA}): a script wrote this record, and no trainer can go on from it",
            field="directory",
            hint="`training runs verify` checks it all the same",
        )
    listed = checksums.parse(content) | {layout.CHECKSUMS: hashlib.sha256(content).hexdigest()}
    try:
        return Found(
            place=place,
            run_id=str(identity["runId"]),
            name=f"{identity['runId']}-{identity['configHash']}",
            parent=str(identity["parent"]["runId"]) if identity.get("parent") else None,
            created_at=str(identity["submittedAt"]),
            files={path: digest for path, digest in listed.items() if path != layout.DIFF},
            size=found.bytes,
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise Invalid(f"{place / layout.RUN} does not tell which run this is", field="directory") from error


def _roots_first(found: list[Found]) -> list[Found]:
    by_id = {each.run_id: each for each in found}
    if len(by_id) < len(found):
        raise Invalid("two of the folders are of one run", field="directory", hint="import them one after the other")
    parents = {run_id: each.parent for run_id, each in by_id.items()}
    return [by_id[run_id] for run_id in order.roots_first(parents, {id: own.created_at for id, own in by_id.items()})]


def _knows(trainer: Trainer, run_id: str) -> bool:
    try:
        return trainer.run(run_id).run_id == run_id
    except NotFound:
        return False


def _require_parents(trainer: Trainer, found: list[Found]) -> None:
    """Raise NotFound unless the parent of each is among them, or known to the trainer, before anything is sent."""
    ids = {each.run_id for each in found}
    for each in found:
        if each.parent is not None and each.parent not in ids and not _knows(trainer, each.parent):
            raise NotFound(
                f"run {each.run_id} branched from run {each.parent}, which is neither in the directory nor known to "
                "the trainer",
                field="directory",
                hint=f"`training runs export {each.run_id} DIR` writes the folders of its ancestors, too",
            )


def _sent(trainer: Trainer, found: Found, *, send: bool) -> Iterator[UploadedFolder]:
    """The folder's files, uploaded if `send`, as a request lists them. Raises Invalid (one has changed), Exhausted."""
    files: list[UploadedFile] = []
    for path, digest in found.files.items():
        upload_id = _uploaded(trainer, found.place / path, digest) if send else ""
        files.append(UploadedFile(path, upload_id, digest))
    for at in range(0, len(files), FILES_AT_ONCE):
        yield UploadedFolder(found.name, tuple(files[at : at + FILES_AT_ONCE]))


def _uploaded(trainer: Trainer, path: Path, digest: str) -> str:
    with _readable(path), open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as source:
        upload_id, sha256 = trainer.upload(source)
    if sha256 != digest:
        raise Invalid(
            f"{path} was changed while it was imported, and nothing was", hint="import it when nothing writes there"
        )
    return upload_id


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WrongUsage(f"{error.filename or path} cannot be read: {error.strerror}", field="directory") from None
