"""The folder of one run: plain files, on the disk before the run exists for anybody else.

run.json      identity, seeds, rows, division, environment
config.json   the plan, byte for byte what its hash is of
data.jsonl    the rows, the very file of the dataset where the disk can link it
worker.log    what the worker printed
snapshots/    one folder a save
metrics.csv, summary.json, checksums.txt    once the run has ended
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.trainer import disk, files, unfinished

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from akka_optimize.records import Document
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

FORMAT_VERSION = 1
LEAVE_IT = "what was recorded so far is in the catalog; leave a run's folder alone until it has ended"
RUN, CONFIG, DATA, LOG, SNAPSHOTS = "run.json", "config.json", "data.jsonl", "worker.log", "snapshots"


class RecordLost(errors.Refused):
    """The folder of a run, or a part of it that everything else is put into, is gone."""


def name(run_id: str, config_hash: str) -> str:
    """The run's folder, relative to the home; `config_hash` is the 12 digits that are shown."""
    return f"runs/{run_id}-{config_hash}"


@dataclass(frozen=True, slots=True)
class New:
    """The folder of a run to come."""

    folder: str  # relative to the home
    identity: Document
    plan_text: str
    rows: Path  # the dataset's file


@contextmanager
def made(catalog: Catalog, home: Home, wanted: Sequence[New]) -> Iterator[None]:
    """Make these folders, whole and flushed, for the block, which puts their runs into the catalog.

    For use inside `unfinished.alone`. They are built beside their places. Whatever happens to the block or to the
    process, the folder of a run that did not reach the catalog goes again. Raises Exhausted, Refused (disk).
    """
    with unfinished.moving(catalog, home, [new.folder for new in wanted]):
        with files.translated(home.runs):
            for new in wanted:
                _build(unfinished.beside(home.path / new.folder), new)
            folders = [unfinished.beside(home.path / new.folder) for new in wanted]
            files.flush_all([path for folder in folders for path in (folder / CONFIG, folder / RUN, folder)])
            for new, folder in zip(wanted, folders, strict=True):
                folder.rename(home.path / new.folder)
            files.flush_folder(home.runs)
        yield


def _build(beside: Path, new: New) -> None:
    beside.mkdir(mode=0o700)
    (beside / CONFIG).write_bytes(new.plan_text.encode())
    (beside / RUN).write_bytes(disk.pretty(new.identity))
    _link(new.rows, beside / DATA)
    (beside / SNAPSHOTS).mkdir(mode=0o700)


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """At the end of the block the folder is still there; otherwise, whatever else went wrong, that is the cause.

    Raises RecordLost.
    """
    try:
        yield
    finally:
        for place in (folder, folder / SNAPSHOTS):
            if not place.is_dir():
                raise RecordLost(f"the run's folder {place} is gone", hint=LEAVE_IT)


def identity(folder: Path) -> Document:
    """What `run.json` says. Raises Refused (cannot be read)."""
    with files.translated(folder / RUN):
        document: Document = json.loads((folder / RUN).read_bytes())
        return document


def add_environment(folder: Path, environment: Document) -> None:
    """Write into `run.json` what the worker found. Raises Exhausted, Refused."""
    document = identity(folder)
    document["environment"] = environment
    with files.translated(folder / RUN):
        disk.replace(folder / RUN, [disk.pretty(document)])


def _link(rows: Path, place: Path) -> None:
    try:
        os.link(rows, place)
    except OSError:  # another file system, one without links, or too many of them
        shutil.copyfile(rows, place)
        disk.flush_file(place)
