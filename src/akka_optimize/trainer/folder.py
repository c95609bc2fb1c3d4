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
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize.trainer import disk, files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Document
    from akka_optimize.trainer.home import Home

FORMAT_VERSION = 1
RUN, CONFIG, DATA, LOG, SNAPSHOTS = "run.json", "config.json", "data.jsonl", "worker.log", "snapshots"


def name(run_id: str, config_hash: str) -> str:
    """The run's folder, relative to the home; `config_hash` is the 12 digits that are shown."""
    return f"runs/{run_id}-{config_hash}"


@contextmanager
def made(home: Home, folder: str, *, identity: Document, plan_text: str, rows: Path) -> Iterator[Path]:
    """Make `folder`, whole and flushed, for the block; take it away again when the block raises.

    It is built beside its place, so that a crash leaves nothing that looks like a run. Raises Exhausted, Refused.
    """
    place = home.path / folder
    beside = place.with_name(f".tmp-{place.name}")
    with ExitStack() as undo, files.translated(place):
        beside.mkdir(mode=0o700)
        undo.callback(shutil.rmtree, beside, ignore_errors=True)
        disk.write_new(beside / CONFIG, plan_text.encode())
        disk.write_new(beside / RUN, disk.pretty(identity))
        _link(rows, beside / DATA)
        (beside / SNAPSHOTS).mkdir(mode=0o700)
        files.flush_folder(beside)
        beside.rename(place)
        undo.callback(shutil.rmtree, place, ignore_errors=True)
        files.flush_folder(place.parent)
        yield place
        undo.pop_all()


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
