"""Folders that arrive, written whole or not at all, whoever sends them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import processes, records

from akka_optimize import errors
from akka_optimize.actions.training.runs import export as action
from akka_optimize.actions.training.runs.export import export
from akka_optimize.records import ExportPart
from akka_optimize.trainer import export as sending


class Sending:
    """A trainer that sends these parts, whatever is asked for."""

    def __init__(self, parts: list[ExportPart], then: BaseException | None = None) -> None:
        self.parts, self.then = parts, then

    def export_run(self, ref: str) -> Iterator[ExportPart]:
        """The parts, and then what is raised, if anything is."""
        del ref
        yield from self.parts
        if self.then is not None:
            raise self.then


@pytest.fixture(scope="module")
def lineage(tmp_path_factory: pytest.TempPathFactory) -> records.Lineage:
    """A parent and a child that nobody changes."""
    return records.lineage(tmp_path_factory.mktemp("lineage"))


@pytest.fixture(scope="module")
def parts(lineage: records.Lineage) -> list[ExportPart]:
    """What a trainer sends of the child: the parent's folder and its own."""
    with records.opened(lineage.folder) as (catalog, home):
        return list(sending.export(catalog, home, lineage.child.run_id))


def test_folders_arrive_byte_for_byte(
    lineage: records.Lineage, parts: list[ExportPart], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a directory that is made, however small the parts; the answer says what was written."""
    into = tmp_path / "far" / "away"
    found = export(Sending(parts), "child", str(into))
    names = [records.place(Path(), run).name for run in (lineage.parent, lineage.child)]
    assert records.contents(into) == records.contents_of(lineage.folder / "runs", names)
    assert found.run_ids == (lineage.parent.run_id, lineage.child.run_id)
    assert found.folders == tuple(names)
    assert (found.existing, found.directory) == ((), str(into))
    assert found.bytes == sum(len(data) for data in records.contents(into).values())
    monkeypatch.setattr(sending, "PART_BYTES", 777)
    with records.opened(lineage.folder) as (catalog, home):
        export(Sending(list(sending.export(catalog, home, lineage.child.run_id))), "child", str(tmp_path / "small"))
    assert records.contents(tmp_path / "small") == records.contents(into)


def test_a_second_export_leaves_alone_what_is_there(parts: list[ExportPart], tmp_path: Path) -> None:
    """Not a byte is written again, which is said."""
    first = export(Sending(parts), "child", str(tmp_path))
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = export(Sending(parts), "child", str(tmp_path))
    assert (again.folders, again.existing, again.bytes) == (first.folders, first.folders, 0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == stamps


def folder(path: Path) -> None:
    """A folder with other content."""
    path.mkdir()
    (path / "checksums.txt").write_text("other")


OTHER = {
    "another folder": folder,
    "an empty folder": Path.mkdir,
    "a file": Path.touch,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("make", OTHER.values(), ids=OTHER.keys())
def test_what_is_there_with_other_content_is_refused(
    lineage: records.Lineage, parts: list[ExportPart], tmp_path: Path, make: Any
) -> None:
    """And left as it is; the folders before it are whole, and nothing else was left."""
    place = records.place(tmp_path, lineage.child)
    make(place)
    before = (os.lstat(place), records.contents(place) if place.is_dir() else None)
    with pytest.raises(errors.Conflict, match=place.name) as caught:
        export(Sending(parts), "child", str(tmp_path))
    assert caught.value.field == "directory"
    assert (os.lstat(place), records.contents(place) if place.is_dir() else None) == before
    assert {path.name for path in tmp_path.iterdir()} == {records.place(tmp_path, lineage.parent).name, place.name}


def test_a_link_to_the_same_folder_is_refused(
    lineage: records.Lineage, parts: list[ExportPart], tmp_path: Path
) -> None:
    """What a name stands for elsewhere is not what is in the directory."""
    export(Sending(parts), "child", str(tmp_path / "elsewhere"))
    place = records.place(tmp_path, lineage.parent)
    place.symlink_to(records.place(tmp_path / "elsewhere", lineage.parent))
    with pytest.raises(errors.Conflict):
        export(Sending(parts), "child", str(tmp_path))


def spoiled(parts: list[ExportPart], at: int, **change: Any) -> list[ExportPart]:
    """The parts with one of them changed."""
    return [replace(part, **change) if number == at else part for number, part in enumerate(parts)]


HOSTILE: dict[str, tuple[dict[str, Any], int]] = {
    "out of the directory": ({"path": "../evil"}, 1),
    "far out of the directory": ({"path": "snapshots/../../../evil"}, 1),
    "an absolute file": ({"path": "/tmp/evil"}, 1),
    "a hidden file": ({"path": ".bashrc"}, 1),
    "a NUL": ({"path": "a\0b"}, 1),
    "a lone surrogate": ({"path": "\udcff"}, 1),
    "a line end": ({"path": "a\nb"}, 1),
    "too deep": ({"path": "a/" * 20 + "b"}, 1),
    "an endless name": ({"path": "a" * 5000}, 1),
    "no path": ({"path": ""}, 1),
    "no checksums first": ({"path": "run.json"}, 0),
    "checksums twice": ({"path": "checksums.txt"}, 1),
    "the middle of a file": ({"path": None}, 0),
    "a folder above": ({"folder": ".."}, 0),
    "an absolute folder": ({"folder": "/tmp"}, 0),
    "a folder within": ({"folder": f"{'a' * 16}-{'b' * 12}/x"}, 0),
    "an empty folder": ({"folder": ""}, 0),
    "a part of another file": ({"data": b"evil"}, 1),
    "a part too few": ({"data": b""}, 1),
    "other checksums": ({"data": b""}, 0),
}


@pytest.mark.parametrize(("change", "at"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_trainer_that_lies_writes_nothing(
    parts: list[ExportPart], tmp_path: Path, change: dict[str, Any], at: int
) -> None:
    """No name leads out of the directory, and no folder appears that is not what its checksums list."""
    into = tmp_path / "into"
    with pytest.raises(errors.Invalid):
        export(Sending(spoiled(parts, at, **change)), "child", str(into))
    assert [path.name for path in tmp_path.rglob("*")] in ([], ["into"])


def test_a_file_as_a_folder_is_refused(parts: list[ExportPart], tmp_path: Path) -> None:
    """`run.json/x` after `run.json` cannot be written, and leaves nothing."""
    evil = replace(parts[1], path=f"{parts[1].path}/x")
    with pytest.raises(errors.Refused):
        export(Sending([*parts[:2], evil]), "child", str(tmp_path / "into"))
    assert list((tmp_path / "into").iterdir()) == []


def test_a_file_that_comes_twice_is_refused(parts: list[ExportPart], tmp_path: Path) -> None:
    """The second is not put in the place of the first."""
    with pytest.raises(errors.Refused):
        export(Sending([*parts[:3], parts[2]]), "child", str(tmp_path / "into"))
    assert list((tmp_path / "into").iterdir()) == []


def test_a_folder_that_comes_twice_is_refused(parts: list[ExportPart], tmp_path: Path) -> None:
    """What is whole already is not begun again."""
    first = [part for part in parts if part.folder == parts[0].folder]
    with pytest.raises(errors.Invalid, match="arrived twice"):
        export(Sending([*parts, *first]), "child", str(tmp_path / "into"))


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (errors.Unreachable("gone"), errors.Unreachable),
        (errors.Refused("changed"), errors.Refused),
        (KeyboardInterrupt(), errors.Interrupted),
    ],
)
def test_an_export_that_breaks_off_leaves_whole_folders_alone(
    lineage: records.Lineage, parts: list[ExportPart], tmp_path: Path, raised: BaseException, expected: type[Exception]
) -> None:
    """Wherever it ends: each folder is there whole or not at all, and the same command again completes it."""
    whole = [records.place(tmp_path, run).name for run in (lineage.parent, lineage.child)]
    for count in range(0, len(parts) + 1, 3):
        into = tmp_path / str(count)
        with pytest.raises(expected):
            export(Sending(parts[:count], raised), "child", str(into))
        there = sorted(path.name for path in into.iterdir()) if into.exists() else []
        assert there in ([], whole[:1]), count
        found = export(Sending(parts), "child", str(into))
        assert found.existing == tuple(there)
    assert sorted(path.name for path in into.iterdir()) == sorted(whole)


def test_what_a_killed_export_left_is_cleared_away(parts: list[ExportPart], tmp_path: Path) -> None:
    """The next one begins that folder anew, and a link in its stead leads nowhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").touch()
    into = tmp_path / "into"
    names = sorted({part.folder for part in parts})
    (into / f".tmp-{names[0]}" / "snapshots").mkdir(parents=True)
    (into / f".tmp-{names[1]}").symlink_to(elsewhere)
    export(Sending(parts), "child", str(into))
    assert sorted(path.name for path in into.iterdir()) == names
    assert [path.name for path in elsewhere.iterdir()] == ["mine"]


def test_a_directory_that_is_a_file_is_refused(parts: list[ExportPart], tmp_path: Path) -> None:
    """With the reason, and the file as it was."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(errors.Refused, match="file cannot be written"):
        export(Sending(parts), "child", str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "mine"


FULL = """
import resource, sys
from pathlib import Path
from support import records
from akka_optimize import errors
from akka_optimize.actions.training.runs.export import export
with records.trainer(Path(sys.argv[1])) as client:
    client.run(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    try:
        export(client, sys.argv[2], sys.argv[3])
    except errors.Exhausted as error:
        print(error.message)
"""


def test_a_full_disk_leaves_nothing(lineage: records.Lineage, tmp_path: Path) -> None:
    """A file that finds no room ends it with the reason, and no part of its folder stays."""
    said = processes.run(FULL, lineage.folder, lineage.child.run_id, tmp_path / "into")
    assert os.strerror(errno.EFBIG).lower() in said
    assert list((tmp_path / "into").iterdir()) == []


def test_a_folder_is_flushed_before_it_gets_its_name(
    parts: list[ExportPart], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file and folder of it, and afterwards the directory that names it."""
    acts: list[str] = []
    flush, rename = action._flush_one, Path.rename
    monkeypatch.setattr(action, "_flush_one", lambda place: (acts.append(str(place)), flush(place)))

    def renaming(self: Path, target: Path) -> Path:
        acts.append("rename")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renaming)
    first = [part for part in parts if part.folder == parts[0].folder]
    export(Sending(first), "parent", str(tmp_path))
    at = acts.index("rename")
    beside = str(tmp_path / f".tmp-{first[0].folder}")
    assert {path.removeprefix(beside).lstrip("/") for path in acts[:at]} >= {part.path for part in first if part.path}
    assert acts[at - 1 : at + 2] == [beside, "rename", str(tmp_path)]
