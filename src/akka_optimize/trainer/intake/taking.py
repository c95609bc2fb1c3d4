"""From files that arrived to runs in the catalog.

What arrived is put together and checked apart from everything else, which may take long and disturbs nobody. Then the
folders are moved and the runs are listed, under the same lock and note as every other move, in one transaction.
"""

from __future__ import annotations

import filecmp
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core.problems import quoted
from akka_optimize.record import checksums, layout, order, paths, travel
from akka_optimize.record.verify import verify
from akka_optimize.records import Imported, UploadedFile, UploadedFolder
from akka_optimize.trainer import arrivals, datasets, disk, files, unfinished
from akka_optimize.trainer.intake import recorded
from akka_optimize.trainer.intake.results import CLOSED

if TYPE_CHECKING:
    from akka_optimize.records import Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.catalog.intake import Taken
    from akka_optimize.trainer.datasets import Stored
    from akka_optimize.trainer.home import Home

AGAIN = "import the folder again"

Arrived = dict[str, UploadedFile]  # by path


def take(catalog: Catalog, home: Home, folders: tuple[UploadedFolder, ...]) -> Imported:
    """Bring uploaded folders, in any order, into the catalog, all or none; what is there already changes nothing.

    The runs are the folders', roots first. Uploads are used up, whatever comes of it. Raises Invalid (a name, a file
    that does not match, what a record says), NotFound (an upload, a parent), Conflict (a run id with other content),
    Refused (a newer format, the disk), Exhausted.
    """
    arrived = _joined(home, folders)
    try:
        return _take(catalog, home, arrived)
    finally:
        for own in arrived.values():
            for file in own.values():
                if file.upload_id:
                    arrivals.drop(home, file.upload_id)


def _take(catalog: Catalog, home: Home, arrived: Mapping[str, Arrived]) -> Imported:
    notes: list[str] = []
    ids = {paths.run_id_of(name): name for name in arrived}
    there = catalog.known(ids)
    for run_id, run in there.items():
        _require_same(home, run, arrived[ids[run_id]])
        notes.append(f"run {run_id} is there already, and nothing of it was changed")
    new = {name: own for name, own in arrived.items() if paths.run_id_of(name) not in there}
    if new:
        with _put_together(home, new) as beside:
            notes += _bring_in(catalog, home, beside)
    known = catalog.known(ids)
    return Imported(tuple(known[run_id] for run_id in _roots_first(known)), tuple(notes))


def _joined(home: Home, folders: tuple[UploadedFolder, ...]) -> dict[str, Arrived]:
    """The files of each folder by their paths. Raises Invalid for a name that leads elsewhere, or stands twice."""
    joined: dict[str, Arrived] = {}
    for folder in folders:
        paths.run_id_of(folder.name)
        own = joined.setdefault(folder.name, {})
        for file in folder.files:
            paths.check_file(file.path)
            if file.path in own:
                raise errors.Invalid(f"{quoted(file.path)} stands twice in folder {folder.name}", field="path")
            if file.upload_id:
                arrivals.place(home, file.upload_id)
            own[file.path] = file
    if not joined:
        raise errors.Invalid("no folder was named to import", field="folders")
    if len({paths.run_id_of(name) for name in joined}) < len(joined):
        raise errors.Invalid("two of the folders are said to be of one run", field="folders")
    return joined


def _roots_first(known: Mapping[str, Run]) -> list[str]:
    parents = {run_id: run.parent_run_id for run_id, run in known.items()}
    return order.roots_first(parents, {run_id: run.created_at for run_id, run in known.items()})


def _require_same(home: Home, run: Run, arrived: Arrived) -> None:
    """Raise Conflict, naming what differs, unless the run that is here has the very files that arrived."""
    path = home.path / run.folder / layout.CHECKSUMS
    here = checksums.parse(path.read_bytes()) if path.is_file() and run.phase in CLOSED else None
    if here is None:
        raise errors.Conflict(
            f"run {run.run_id} is here already and is {run.phase}: its record is open, and cannot be compared with the "
            "folder",
            field="runId",
        )
    theirs = {file.path: file.sha256 for file in arrived.values()}
    travelling = (here.keys() | theirs.keys()) - {layout.CHECKSUMS, layout.DIFF}
    if differing := sorted(path for path in travelling if here.get(path) != theirs.get(path)):
        told = [*differing[: travel.MOST_NAMED], *travel.few(len(differing) - travel.MOST_NAMED)]
        raise errors.Conflict(
            f"run {run.run_id} is here already, with other content than in the folder: {', '.join(told)}",
            field="runId",
            hint="delete the one that is here, or import the folder into another home",
        )


@contextmanager
def _put_together(home: Home, folders: Mapping[str, Arrived]) -> Iterator[dict[str, Path]]:
    """The folders as they arrived, checked file by file, by name; what is not moved elsewhere goes again.

    Raises NotFound (an upload), Invalid (a file that does not match), Refused (a file that was not sent; disk).
    """
    arrivals.make_folder(home)
    staging = arrivals.folder(home) / f"{secrets.token_hex(16)}.import"
    try:
        with files.translated(staging):
            staging.mkdir(mode=0o700)
            for name, own in folders.items():
                (staging / name / layout.SNAPSHOTS).mkdir(parents=True, mode=0o700)
                for path, file in own.items():
                    _move(home, file, staging / name / path)
        for name in folders:
            _require_sound(staging / name)
        yield {name: staging / name for name in folders}
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _move(home: Home, file: UploadedFile, place: Path) -> None:
    if not file.upload_id:
        raise errors.Refused(
            f"{file.path} was not sent, as its run was here a moment ago", field="uploadId", hint=AGAIN
        )
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        arrivals.place(home, file.upload_id).rename(place)
    except FileNotFoundError:
        raise errors.NotFound(
            f"no upload {file.upload_id} is held, which {file.path} was to be",
            field="uploadId",
            hint=f"{AGAIN}; uploads are kept for a day",
        ) from None


def _require_sound(folder: Path) -> None:
    if (wrong := travel.amiss(verify(folder))) is not None:
        raise errors.Invalid(
            f"folder {folder.name} is not what its record says: {wrong}",
            field="folders",
            hint="`training runs verify` checks a folder where it is",
        )


def _bring_in(catalog: Catalog, home: Home, beside: Mapping[str, Path]) -> tuple[str, ...]:
    """List the runs of checked folders, and move the folders to their places; what is worth saying of it."""
    rows = _rows(catalog, home, beside)
    found = {name: recorded.read(folder, name, rows[name]) for name, folder in beside.items()}
    taken = _ordered(found.values())
    with files.translated(home.uploads):
        files.flush_all([path for folder in beside.values() for path in (*folder.rglob("*"), folder)])
    with unfinished.alone(catalog, home):
        _require_free(catalog, home, taken)
        with _moved(catalog, home, beside, taken):
            return catalog.take_in(taken)


def _require_free(catalog: Catalog, home: Home, taken: Sequence[Taken]) -> None:
    """Raise Conflict where a run was made meanwhile, and Refused where something else lies in the place of a folder."""
    for run_id in catalog.known([each.run.run_id for each in taken]):
        raise errors.Conflict(f"run {run_id} was made meanwhile", field="runId", hint=AGAIN)
    for each in taken:
        if (home.path / each.run.folder).exists():
            raise errors.Refused(
                f"{home.path / each.run.folder} is there, and the folder of no run that is known here",
                field="folders",
                hint="move it away, then import again",
            )


def _rows(catalog: Catalog, home: Home, folders: Mapping[str, Path]) -> dict[str, Stored]:
    """Keep each run's rows as those of a dataset, and let its folder hold the very file where the disk can link it."""
    kept: dict[str, Stored] = {}
    found: dict[str, Stored] = {}
    for name, folder in folders.items():
        data = folder / layout.DATA
        with files.translated(data):
            digest = disk.digest(data)
        if digest not in kept:
            kept[digest] = _listed(catalog, home, digest, data) or datasets.store(home, data)
        found[name] = kept[digest]
        with suppress(OSError):  # another file system, or one without links: then there are two files
            link = data.with_name(f"{layout.UNFINISHED}{layout.DATA}")
            os.link(datasets.place(home, found[name].hash), link)
            link.replace(data)
    return found


def _listed(catalog: Catalog, home: Home, hash: str, data: Path) -> Stored | None:
    """The dataset that has these very rows already, and whose file is sound; None where there is none."""
    try:
        there, place = catalog.dataset(hash), datasets.place(home, hash)
    except errors.NotFound:
        return None
    with files.translated(place):
        same = filecmp.cmp(place, data, shallow=False)
    return datasets.Stored(there.hash, there.example_count, there.size_bytes, there.findings) if same else None


def _ordered(found: Iterable[Taken]) -> list[Taken]:
    by_id = {each.run.run_id: each for each in found}
    parents = {run_id: each.run.parent_run_id for run_id, each in by_id.items()}
    return [by_id[run_id] for run_id in order.roots_first(parents, {id: own.created_at for id, own in by_id.items()})]


@contextmanager
def _moved(catalog: Catalog, home: Home, beside: Mapping[str, Path], taken: Sequence[Taken]) -> Iterator[None]:
    """For the block, which lists the runs, their folders are in place; those of runs that are not listed go again."""
    with unfinished.moving(catalog, home, [each.run.folder for each in taken]):
        with files.translated(home.runs):
            for name, folder in beside.items():
                folder.rename(home.runs / name)
            files.flush_folder(home.runs)
        yield
