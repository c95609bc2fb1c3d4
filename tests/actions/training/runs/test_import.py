"""Folders of runs on this machine, checked and sent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from support import records

from akka_optimize import errors
from akka_optimize.actions.training.runs import import_ as action
from akka_optimize.actions.training.runs.import_ import import_
from akka_optimize.client.trainer import Trainer
from akka_optimize.records import Imported, UploadedFolder


class Counting:
    """A real trainer, and what was sent to it; `raises` is raised instead of an import."""

    def __init__(self, inner: Trainer, raises: BaseException | None = None) -> None:
        self._inner, self._raises = inner, raises
        self.uploads = 0
        self.folders: list[tuple[UploadedFolder, ...]] = []

    def run(self, ref: str) -> Any:
        """As the trainer has it."""
        return self._inner.run(ref)

    def upload(self, source: BinaryIO) -> tuple[str, str]:
        """One more."""
        self.uploads += 1
        return self._inner.upload(source)

    def import_runs(self, folders: tuple[UploadedFolder, ...], *, patience: float = 0.0) -> Imported:
        """Once more."""
        self.folders.append(folders)
        if self._raises is not None:
            raise self._raises
        return self._inner.import_runs(folders, patience=patience)


@contextmanager
def counting(folder: Path, raises: BaseException | None = None) -> Iterator[Counting]:
    """A trainer of the home at `folder`."""
    with records.trainer(folder) as inner:
        yield Counting(inner, raises)


@pytest.fixture(scope="module")
def lineage(tmp_path_factory: pytest.TempPathFactory) -> records.Lineage:
    """A parent and a child that nobody changes."""
    return records.lineage(tmp_path_factory.mktemp("lineage"))


@pytest.fixture(scope="module")
def folders(lineage: records.Lineage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Their folders."""
    return records.exported(lineage, tmp_path_factory.mktemp("records"))


@pytest.fixture
def copy(folders: Path, tmp_path: Path) -> Path:
    """A copy of the folders, to spoil."""
    return records.copied(folders, tmp_path / "records")


def test_a_directory_of_folders_is_taken_roots_first(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """All of them in one request, in which each run comes after its parent; every file is sent once."""
    with counting(tmp_path / "home") as trainer:
        found = import_(trainer, str(folders))
        assert [run.run_id for run in found.runs] == [lineage.parent.run_id, lineage.child.run_id]
        (sent,) = trainer.folders
    assert [folder.name for folder in sent] == [
        records.place(Path(), run).name for run in (lineage.parent, lineage.child)
    ]
    assert trainer.uploads == len(records.contents(folders))


def test_one_folder_is_taken_where_its_parent_is(lineage: records.Lineage, copy: Path, tmp_path: Path) -> None:
    """A run's own folder, under whatever name it was copied to."""
    with counting(tmp_path / "home") as trainer:
        import_(trainer, str(records.place(copy, lineage.parent)))
        renamed = records.place(copy, lineage.child).rename(tmp_path / "my favourite")
        (run,) = import_(trainer, str(renamed)).runs
    assert run.parent_run_id == lineage.parent.run_id


def test_the_folder_of_a_home_is_as_good_as_an_export(lineage: records.Lineage, tmp_path: Path) -> None:
    """`cp -r` of a home's `runs` can be imported, and what a writer left there unfinished is passed over."""
    copy = records.copied(lineage.folder / "runs", tmp_path / "runs")
    (copy / ".tmp-0000000000000000-000000000000").mkdir()
    (records.place(copy, lineage.other) / ".tmp-1-summary.json").touch()
    with counting(tmp_path / "home") as trainer:
        assert len(import_(trainer, str(copy)).runs) == 3


def test_the_diff_is_not_sent(lineage: records.Lineage, copy: Path, tmp_path: Path) -> None:
    """It stays with whoever has it, and its absence is nothing that does not match."""
    (records.place(copy, lineage.parent) / "origin.diff").write_text("- a secret\n")
    with counting(tmp_path / "home") as trainer:
        import_(trainer, str(copy))
        assert all(file.path != "origin.diff" for folder in trainer.folders[0] for file in folder.files)


def test_a_diff_that_the_checksums_list_is_not_sent_either(
    lineage: records.Lineage, copy: Path, tmp_path: Path
) -> None:
    """It stays all the same, and a second import finds the run to be there already."""
    place = records.place(copy, lineage.parent)
    (place / "origin.diff").write_text("- a secret\n")
    records.listed(place)
    with counting(tmp_path / "home") as trainer:
        assert import_(trainer, str(copy)).notes == ()
        assert len(import_(trainer, str(copy)).notes) == 2
        assert all(file.path != "origin.diff" for sent in trainer.folders for each in sent for file in each.files)


def test_nothing_is_sent_of_a_run_that_is_there(folders: Path, tmp_path: Path) -> None:
    """The second time only digests travel, and the answer says that the runs were there already."""
    with counting(tmp_path / "home") as trainer:
        first = import_(trainer, str(folders))
        before = trainer.uploads
        again = import_(trainer, str(folders))
        assert trainer.uploads == before
    assert again.runs == first.runs
    assert len(again.notes) == 2


def test_many_files_are_spread_over_several_entries(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No list of a request is longer than a trainer takes."""
    monkeypatch.setattr(action, "FILES_AT_ONCE", 3)
    with counting(tmp_path / "home") as trainer:
        import_(trainer, str(folders))
        assert max(len(folder.files) for folder in trainer.folders[0]) == 3
        assert len({folder.name for folder in trainer.folders[0]}) == 2


def run_file(path: Path) -> Path:
    """The `run.json` of some folder in a directory."""
    return next(iter(sorted(path.glob("*/run.json"))))


def linked(path: Path) -> None:
    """Let a file of a folder be a link out of it."""
    file = run_file(path).with_name("worker.log")
    file.unlink()
    file.symlink_to("/etc/hostname")


def linked_folder(path: Path) -> None:
    """Let a folder be a link."""
    folder = run_file(path).parent
    real = folder.rename(path.parent / "real")
    folder.symlink_to(real)


BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a file is missing": (lambda path: run_file(path).with_name("metrics.csv").unlink(), "metrics.csv"),
    "a file is cut off": (lambda path: os.truncate(run_file(path).with_name("summary.json"), 10), "summary.json"),
    "a file is a link": (linked, "worker.log"),
    "a folder is a link": (linked_folder, "is a link"),
    "a run that has not ended": (lambda path: run_file(path).with_name("checksums.txt").unlink(), "checksums.txt"),
    "a file too many": (lambda path: run_file(path).with_name("notes.txt").touch(), "notes.txt"),
    "the same run twice": (lambda path: shutil.copytree(run_file(path).parent, path / "again"), "of one run"),
    "no folder of a run": (
        lambda path: [shutil.rmtree(each) for each in path.iterdir()],
        "neither the folder of a run",
    ),
    "folders of something else": (
        lambda path: [(each / "run.json").unlink() for each in path.iterdir()],
        "neither the folder of a run",
    ),
}


@pytest.mark.parametrize(("spoil", "said"), BAD.values(), ids=BAD.keys())
def test_what_does_not_match_is_refused_before_anything_is_sent(
    copy: Path, tmp_path: Path, spoil: Callable[[Path], Any], said: str
) -> None:
    """Named by folder and file; neither it nor the sound folder beside it was sent."""
    spoil(copy)
    with counting(tmp_path / "home") as trainer, pytest.raises(errors.Invalid, match=said):
        import_(trainer, str(copy))
    assert (trainer.uploads, trainer.folders) == (0, [])


@pytest.mark.parametrize("make", [Path.exists, Path.touch], ids=["not there", "a file"])
def test_a_directory_that_is_none_is_wrong_usage(tmp_path: Path, make: Callable[[Path], Any]) -> None:
    """With the path and the system's reason."""
    make(tmp_path / "here")
    with counting(tmp_path / "home") as trainer, pytest.raises(errors.WrongUsage, match="here cannot be read"):
        import_(trainer, str(tmp_path / "here"))


def test_a_parent_that_is_nowhere_is_named_before_anything_is_sent(
    lineage: records.Lineage, folders: Path, tmp_path: Path
) -> None:
    """Neither in the directory nor known to the trainer."""
    only = records.place(folders, lineage.child)
    with counting(tmp_path / "home") as trainer, pytest.raises(errors.NotFound, match=lineage.parent.run_id) as caught:
        import_(trainer, str(only))
    assert trainer.uploads == 0
    assert f"training runs export {lineage.child.run_id}" in (caught.value.hint or "")


def test_a_file_that_changes_while_it_is_sent_is_refused(
    folders: Path, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was checked and what was sent are the same, or nothing is imported."""
    verify = action.verify

    def changing(place: Path) -> Any:
        found = verify(place)
        with (place / "config.json").open("a") as file:
            file.write(" ")
        return found

    monkeypatch.setattr(action, "verify", changing)
    with counting(tmp_path / "home") as trainer, pytest.raises(errors.Invalid, match=r"config\.json was changed"):
        import_(trainer, str(copy))
    assert trainer.folders == []


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (errors.Unreachable("gone"), errors.Unreachable),
        (errors.TimedOut("too long"), errors.TimedOut),
        (KeyboardInterrupt(), errors.Interrupted),
    ],
)
def test_an_import_of_which_nobody_knows_says_so(
    folders: Path, tmp_path: Path, raised: BaseException, expected: type[errors.AkkaError]
) -> None:
    """That the runs may be there, and that to import them again changes nothing."""
    with counting(tmp_path / "home", raised) as trainer, pytest.raises(expected) as caught:
        import_(trainer, str(folders))
    assert caught.value.hint == action.AGAIN
