"""Runs with a lineage whose folders travel, and ways to spoil such a folder."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import branching, life, parents
from support.homes import CommandLine

from akka_optimize.actions.training.runs.export import export
from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport.embedded import EmbeddedTransport
from akka_optimize.record import checksums
from akka_optimize.records import Imported, Run, UploadedFile, UploadedFolder
from akka_optimize.trainer import arrivals, intake
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.servicer import Servicer

PART_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Lineage:
    """A home in `folder`, closed, in which `child` branched from `parent`, and `other` from nothing."""

    folder: Path
    parent: Run
    child: Run
    other: Run


def lineage(folder: Path, rate: float = 1e-4) -> Lineage:
    """Three runs in a new home below `folder`, trained in this process; the parent has saved at 10 and at 20.

    The child's point is a learning rate.
    """
    folder.mkdir(exist_ok=True)
    home, catalog = life.open_home(folder)
    with catalog:
        parent = parents.trained(catalog, home, {"name": "parent", "purpose": "to have children"})
        branching.branch(catalog, home, branching.snapshot_of(catalog, parent, 10), {parents.RATE: rate})
        child = parents.carry_out(catalog, home)
        other = parents.trained(catalog, home, {"config.seed": 1})
        return Lineage(home.path, catalog.run(parent.run_id), child, other)


@contextmanager
def trainer(folder: Path) -> Iterator[Trainer]:
    """A client of the home at `folder`, in this process."""
    client = Trainer(EmbeddedTransport(Servicer.opened(folder, backend="local")), timeout=30)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Catalog, Home]]:
    """The home at `folder`."""
    home = Home.open(folder)
    with Catalog.open(home) as catalog:
        yield catalog, home


def exported(found: Lineage, into: Path, *runs: Run) -> Path:
    """The folders of these runs, by default of the child, and of their ancestors, in `into`."""
    with trainer(found.folder) as client:
        for run in runs or (found.child,):
            export(client, run.run_id, str(into))
    return into


def place(directory: Path, run: Run) -> Path:
    """The run's folder in a directory."""
    return directory / run.folder.removeprefix("runs/")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def listed(folder: Path) -> None:
    """Make a folder's checksums anew, as somebody would who changed it on purpose."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in contents(folder).items()}
    del digests["checksums.txt"]
    (folder / "checksums.txt").write_bytes(checksums.written(digests))


def rewritten(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change a JSON document of a folder, and its checksums with it."""
    document = json.loads((folder / name).read_bytes())
    change(document)
    (folder / name).write_text(json.dumps(document, indent=2) + "\n")
    listed(folder)


def copied(directory: Path, into: Path) -> Path:
    """A copy to spoil."""
    return shutil.copytree(directory, into)


def sent(home: Home, directory: Path) -> tuple[UploadedFolder, ...]:
    """Every folder in a directory as a client sends it that looks at nothing: uploaded file by file."""
    return tuple(UploadedFolder(folder.name, _uploads(home, folder)) for folder in sorted(directory.iterdir()))


def _uploads(home: Home, folder: Path) -> tuple[UploadedFile, ...]:
    found = []
    for path, data in contents(folder).items():
        upload_id = secrets.token_hex(16)
        for at in range(0, max(1, len(data)), PART_BYTES):
            arrivals.write(home, upload_id, at, data[at : at + PART_BYTES])
        found.append(UploadedFile(path, upload_id, hashlib.sha256(data).hexdigest()))
    return tuple(found)


def fresh(folder: Path) -> Home:
    """A new home with a catalog."""
    home = Home.open(folder)
    Catalog.open(home).close()
    return home


def state(home: Home) -> dict[str, Any]:
    """Everything in a home that lasts, but for rows of datasets that no catalog lists."""
    found = CommandLine(home.path).state()
    found["files"] = {name: each for name, each in found["files"].items() if not name.startswith("datasets/")}
    return found


def contents_of(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Every file below these folders in `folder`, by its path there."""
    return {f"{name}/{path}": data for name in names for path, data in contents(folder / name).items()}


def taken(home: Home, directory: Path) -> Imported:
    """Upload every folder in a directory, and take it in."""
    with Catalog.open(home) as catalog:
        return intake.take(catalog, home, sent(home, directory))
