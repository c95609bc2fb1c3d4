"""The folders of a run and its ancestors, on their way out: what their checksums list, and nothing beside it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from akka_optimize import errors
from akka_optimize.record import checksums, layout, paths, travel
from akka_optimize.record.verify import verify
from akka_optimize.records import TERMINAL_PHASES, ExportPart
from akka_optimize.trainer import files, unclosed

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

PART_BYTES = 512 * 1024
CLOSED = TERMINAL_PHASES | {"PAUSED"}


def export(catalog: Catalog, home: Home, reference: str) -> Iterator[ExportPart]:
    """Every file of the folders, roots first; of each folder its checksums come first.

    All folders are checked before the first part. A file that is changed or removed afterwards, as by a run that goes
    on meanwhile, ends the stream. Raises NotFound, Ambiguous, Refused.
    """
    lineage = [(run, _listed(home, run)) for run in catalog.ancestry(reference).items]
    for run, listed in lineage:
        folder = home.path / run.folder
        for path, digest in listed.items():
            yield from _file(folder, path, digest)


def _listed(home: Home, run: Run) -> dict[str, str]:
    """The files of a run's folder with their sha256, its checksums first. Raises Refused unless all of it is sound."""
    folder = home.path / run.folder
    if run.phase not in CLOSED:
        raise errors.Refused(
            f"run {run.run_id} is {run.phase}, and its record is closed once it has ended or is paused",
            field="run",
            hint=f"`training runs wait {run.run_id}` waits for its end, `training runs pause {run.run_id}` pauses it",
        )
    if unclosed.is_marked(home, run.run_id) or not (folder / layout.CHECKSUMS).is_file():
        raise errors.Refused(
            f"the record of run {run.run_id} is not closed: {folder} has no {layout.CHECKSUMS} yet",
            field="run",
            hint="try again; the trainer closes it, or says what keeps it from that, when it is opened next",
        )
    if (wrong := travel.amiss(verify(folder))) is not None:
        raise errors.Refused(
            f"the folder of run {run.run_id} is not what its record says: {wrong}",
            field="run",
            hint=f"`training runs verify {run.run_id}` names every file that does not match",
        )
    with files.translated(folder):
        content = (folder / layout.CHECKSUMS).read_bytes()
    listed = {name: digest for name, digest in checksums.parse(content).items() if name != layout.DIFF}
    for path in listed:
        paths.check_file(path)
    return {layout.CHECKSUMS: hashlib.sha256(content).hexdigest(), **listed}


def _file(folder: Path, path: str, digest: str) -> Iterator[ExportPart]:
    """A file in parts. Raises Refused where it is not the one that was checked."""
    found = hashlib.sha256()
    with _opened(folder / path) as stream:
        size, first = os.fstat(stream.fileno()).st_size, True
        while (data := stream.read(PART_BYTES)) or first:
            found.update(data)
            yield ExportPart(folder.name, path if first else None, size, data)
            first = False
    if found.hexdigest() != digest:
        raise errors.Refused(f"{folder / path} was changed while it was exported", field="run", hint=AGAIN)


AGAIN = "export it again when nothing is at work on the run"


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise errors.Refused(
            f"{path} was there, and cannot be read any more: {error.strerror}", field="run", hint=AGAIN
        ) from error
    with open(descriptor, "rb") as stream, files.translated(path):
        yield stream
