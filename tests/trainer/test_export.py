"""The folders of a run and its ancestors, as a trainer sends them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import life, parents, records

from akka_optimize import errors
from akka_optimize.records import ExportPart, Origin
from akka_optimize.trainer import export, start, unclosed
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home


@pytest.fixture(scope="module")
def lineage(tmp_path_factory: pytest.TempPathFactory) -> records.Lineage:
    """A parent and a child that nobody changes."""
    return records.lineage(tmp_path_factory.mktemp("lineage"))


@contextmanager
def spoilable(lineage: records.Lineage, tmp_path: Path) -> Iterator[tuple[Catalog, Home]]:
    """A copy of that home."""
    with records.opened(records.copied(lineage.folder, tmp_path / "home")) as opened:
        yield opened


def joined(parts: list[ExportPart]) -> dict[str, dict[str, bytes]]:
    """The folders that the parts make, in the order in which they came."""
    found: dict[str, dict[str, bytes]] = {}
    path = ""
    for part in parts:
        path = part.path or path
        into = found.setdefault(part.folder, {})
        assert (path in into) is (part.path is None)
        into[path] = into.get(path, b"") + part.data
    return found


def test_folders_come_roots_first_and_byte_for_byte(lineage: records.Lineage) -> None:
    """What arrives is every file of the parent's folder and then of the child's, each folder's checksums before all."""
    with records.opened(lineage.folder) as (catalog, home):
        parts = list(export.export(catalog, home, lineage.child.run_id))
    found = joined(parts)
    assert list(found) == [records.place(Path(), run).name for run in (lineage.parent, lineage.child)]
    for name, files in found.items():
        assert files == records.contents(lineage.folder / "runs" / name)
        assert next(iter(files)) == "checksums.txt"
    assert {part.path: part.size for part in parts if part.path == "data.jsonl"} == {
        "data.jsonl": len(found[parts[0].folder]["data.jsonl"])
    }


def test_a_large_file_comes_in_parts(lineage: records.Lineage, monkeypatch: pytest.MonkeyPatch) -> None:
    """No part holds more than half a MiB, each says how large the whole file is, and all together are the file."""
    assert export.PART_BYTES <= 2**19
    monkeypatch.setattr(export, "PART_BYTES", 1000)
    with records.opened(lineage.folder) as (catalog, home):
        parts = list(export.export(catalog, home, lineage.parent.run_id))
    assert max(len(part.data) for part in parts) == 1000
    (files,) = joined(parts).values()
    assert files == records.contents(records.place(lineage.folder / "runs", lineage.parent))
    sizes = {part.path: part.size for part in parts if part.path is not None}
    assert sizes == {path: len(data) for path, data in files.items()}


def test_what_is_not_of_the_record_stays(lineage: records.Lineage, tmp_path: Path) -> None:
    """The diff of the folder that a run was asked for in is never sent, nor what a writer left unfinished."""
    with spoilable(lineage, tmp_path) as (catalog, home):
        diff = b"- a secret\n"
        origin = Origin("a" * 40, hashlib.sha256(diff).hexdigest(), diff)
        run = start.start(catalog, home, life.descriptor(), origin=origin)
        parents.carry_out(catalog, home)
        assert (home.path / run.folder / "origin.diff").read_bytes() == diff
        (files,) = joined(list(export.export(catalog, home, run.run_id))).values()
    assert "origin.diff" not in files
    assert not any(b"secret" in data for data in files.values())


@pytest.mark.parametrize("phase", ["QUEUED", "TRAINING"])
def test_a_run_that_has_not_ended_is_refused(tmp_path: Path, phase: str) -> None:
    """Its record is not closed; the message names the run and its phase."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        run = start.start(catalog, home, life.descriptor())
        if phase != "QUEUED":
            catalog.claim()
            catalog.set_phase(run.run_id, phase, only_from=("PREPARING",))
        with pytest.raises(errors.Refused, match=f"{run.run_id} is {phase}") as caught:
            next(export.export(catalog, home, run.run_id))
    assert caught.value.field == "run"


def test_an_ancestor_that_is_open_is_named(lineage: records.Lineage, tmp_path: Path) -> None:
    """The child is closed, and its parent's record is being written: the message names the parent."""
    with spoilable(lineage, tmp_path) as (catalog, home):
        unclosed.mark(home, lineage.parent.run_id)
        with pytest.raises(errors.Refused, match=f"record of run {lineage.parent.run_id} is not closed"):
            next(export.export(catalog, home, lineage.child.run_id))


def test_a_run_without_its_last_files_is_refused(lineage: records.Lineage, tmp_path: Path) -> None:
    """A folder that lost its checksums says nothing of what is in it."""
    with spoilable(lineage, tmp_path) as (catalog, home):
        (home.path / lineage.child.folder / "checksums.txt").unlink()
        with pytest.raises(errors.Refused, match=r"has no checksums\.txt"):
            next(export.export(catalog, home, lineage.child.run_id))


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)


SPOILED = {
    "missing": Path.unlink,
    "one bit flipped": flip,
    "cut off": lambda path: os.truncate(path, path.stat().st_size - 1),
    "a link": lambda path: (path.rename(path.with_name("elsewhere")), path.symlink_to("elsewhere")),
}


@pytest.mark.parametrize("name", ["metrics.csv", "config.json", "snapshots/10/weights.safetensors"])
@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_a_spoiled_file_ends_it_before_anything_is_sent(
    lineage: records.Lineage, tmp_path: Path, name: str, spoil: Any
) -> None:
    """A file of any of the folders that is not what was recorded is named, and not one part comes."""
    with spoilable(lineage, tmp_path) as (catalog, home):
        spoil(home.path / lineage.parent.folder / name)
        with pytest.raises(errors.Refused, match=name) as caught:
            next(export.export(catalog, home, lineage.child.run_id))
    assert lineage.parent.run_id in caught.value.message


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_a_file_that_changes_under_the_stream_ends_it(lineage: records.Lineage, tmp_path: Path, spoil: Any) -> None:
    """What was checked and is gone or another one when its turn comes is refused, and named."""
    with spoilable(lineage, tmp_path) as (catalog, home):
        parts = export.export(catalog, home, lineage.parent.run_id)
        next(parts)
        spoil(home.path / lineage.parent.folder / "run.json")
        with pytest.raises(errors.Refused, match=r"run\.json") as caught:
            list(parts)
    assert caught.value.hint == export.AGAIN


def test_a_run_that_goes_on_under_the_stream_ends_it(lineage: records.Lineage, tmp_path: Path) -> None:
    """A resumed run takes its last files away; the export says so instead of sending half a record."""
    with spoilable(lineage, tmp_path) as (catalog, home):
        parts = export.export(catalog, home, lineage.parent.run_id)
        next(parts)
        (home.path / lineage.parent.folder / "summary.json").unlink()
        with pytest.raises(errors.Refused, match=r"summary\.json was there, and cannot be read any more"):
            list(parts)


def test_an_unknown_run_is_not_found(lineage: records.Lineage) -> None:
    """As everywhere."""
    with records.opened(lineage.folder) as (catalog, home), pytest.raises(errors.NotFound):
        next(export.export(catalog, home, "f" * 16))
