"""The folder of one run: plain files, on the disk before the run exists for anybody else.

run.json      identity, seeds, rows, division, environment
config.json   the plan, byte for byte what its hash is of
origin.diff   what differed from the git commit, when asked to keep it
data.jsonl    the rows, the very file of the dataset where the disk can link it
worker.log    what the worker printed
snapshots/    one folder a save
metrics.csv, summary.json, checksums.txt    once the run has ended
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.record import layout
from akka_optimize.record.layout import CONFIG, DATA, DIFF, RUN, SNAPSHOTS, UNFINISHED
from akka_optimize.trainer import disk, files, unfinished

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from akka_optimize.records import Document
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

FORMAT_VERSION = layout.FORMAT_VERSION
LOG = layout.LOG
LEAVE_IT = "what was recorded so far is in the catalog; leave a run's folder alone until it has ended"
NO_PURPOSE = "no purpose was stated: what this run was meant to find out is not on record"


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
    rows: Path | None  # the dataset's file; none for a run that was recorded by itself
    diff: bytes | None = None  # what differs from the commit it was asked for in, when asked to keep it


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
    (beside / RUN).write_bytes(disk.pretty(noted(new.identity)))
    if new.rows is not None:
        _link(new.rows, beside / DATA)
    if new.diff is not None:
        disk.write_new(beside / DIFF, new.diff)
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


def noted(identity: Document) -> Document:
    """What `run.json` is to say; that a run has no purpose is among its notes."""
    if identity.get("purpose") is not None:
        return identity
    return {**identity, "notes": [*identity.get("notes", ()), NO_PURPOSE]}


def describe(folder: Path, *, environment: Document, seeds: Document | None = None) -> None:
    """Write into `run.json` what the worker found, and the seeds as it applied them where it knows better.

    Both are on the disk when this returns, before the first update. Raises Exhausted, Refused.
    """
    document = identity(folder)
    document["environment"] = environment
    if seeds is not None:
        document["seeds"] = seeds
    with files.translated(folder / RUN):
        disk.replace(folder / RUN, [disk.pretty(document)])


def add_environment(folder: Path, environment: Document) -> None:
    """`describe` without seeds."""
    describe(folder, environment=environment)


def write(runs: Path, run_id: str, config: Document, identity: Document) -> Path:
    """Make the folder of a run that no catalog knows, whole and flushed, in the folder `runs`; its path.

    `config` is the run's configuration as a plain document and becomes `config.json`; `identity` is what `run.json`
    says beside the hashes. Raises Exhausted, Refused (disk; it is there already).
    """
    sha256 = plans.plan_hash(config)
    place = runs / f"{run_id}-{sha256[:12]}"
    beside = place.with_name(f"{UNFINISHED}{place.name}")
    hashes = {"configHash": sha256[:12], "configSha256": sha256}
    told = {"formatVersion": FORMAT_VERSION, "runId": run_id, **hashes, **identity}
    with files.translated(place):
        if place.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        _build(beside, New(place.name, told, plans.plan_text(config), rows=None))
        files.flush_all([beside / CONFIG, beside / RUN, beside])
        beside.rename(place)
        files.flush_folder(runs)
    return place


def _link(rows: Path, place: Path) -> None:
    try:
        os.link(rows, place)
    except OSError:  # another file system, one without links, or too many of them
        shutil.copyfile(rows, place)
        disk.flush_file(place)
