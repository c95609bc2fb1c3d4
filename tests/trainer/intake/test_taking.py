"""Folders of runs that a trainer takes into its catalog, with everything that is known of them."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import branching, parents, records
from support.catalog import points

from akka_optimize import errors
from akka_optimize.record.verify import verify
from akka_optimize.records import Run, UploadedFolder
from akka_optimize.trainer import arrivals, delete, intake, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

OWN = {"created_at", "ended_at", "workload_id"}  # set by the catalog a moment apart from the folder, or its own


def told(run: Run) -> Run:
    """A run without what a catalog adds of its own."""
    return replace(run, **dict.fromkeys(OWN, ""))


@pytest.fixture(scope="module")
def home(folders: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that took everything in, and that nobody changes."""
    home = records.fresh(tmp_path_factory.mktemp("taken") / "home")
    records.taken(home, folders)
    return home


def test_runs_are_what_they_were(lineage: records.Lineage, home: Home) -> None:
    """Every field of each run, of its snapshots and of its settings, and every bit of its curves."""
    for run in (lineage.parent, lineage.child, lineage.other):
        with records.opened(lineage.folder) as (there, _), records.opened(home.path) as (here, _):
            assert told(here.run(run.run_id)) == told(there.run(run.run_id))
            assert points(here.metrics(run.run_id)) == points(there.metrics(run.run_id))
            assert here.hparams(run.run_id) == there.hparams(run.run_id)
            was, found = (each.snapshots(run.run_id).items for each in (there, here))
            assert [replace(each, created_at="") for each in found] == [replace(each, created_at="") for each in was]
            assert here.ancestry(run.run_id).items[0].run_id == there.ancestry(run.run_id).items[0].run_id


def test_curves_are_stored_as_those_of_a_run_that_ended_here(lineage: records.Lineage, home: Home) -> None:
    """The very chunks that merging left in the other catalog, message by message."""
    with records.opened(lineage.folder) as (there, _), records.opened(home.path) as (here, _):
        for run in (lineage.parent, lineage.child):
            was, found = (list(each.metrics(run.run_id)) for each in (there, here))
            assert [chunk.SerializeToString() for chunk in found] == [chunk.SerializeToString() for chunk in was]


def test_folders_are_in_their_places_byte_for_byte(folders: Path, home: Home) -> None:
    """As they were exported, sound, and the rows are the very file of the dataset."""
    assert records.contents(home.runs) == records.contents(folders)
    assert os.listdir(arrivals.folder(home)) == []
    for folder in home.runs.iterdir():
        assert verify(folder).mismatches == ()
        (rows,) = home.datasets.iterdir()
        assert (folder / "data.jsonl").samefile(rows)


def test_runs_are_listed_in_the_order_of_their_times(lineage: records.Lineage, home: Home) -> None:
    """Oldest first among those taken in, so that a list shows the newest at its head."""
    with records.opened(home.path) as (catalog, _):
        listed = [run.run_id for run in catalog.runs().items]
    assert listed == [lineage.other.run_id, lineage.child.run_id, lineage.parent.run_id]


def test_roots_come_first_in_the_answer(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """Whatever the order in which folders are named."""
    home = records.fresh(tmp_path / "home")
    with Catalog.open(home) as catalog:
        found = intake.take(catalog, home, records.sent(home, folders)[::-1])
    assert [run.run_id for run in found.runs] == [
        each.run_id for each in (lineage.parent, lineage.child, lineage.other)
    ]
    assert found.notes == ()


def test_twice_changes_nothing(folders: Path, tmp_path: Path) -> None:
    """No row and no file differs after the same folders were taken again; that they were there is said."""
    home = records.fresh(tmp_path / "home")
    first, before = records.taken(home, folders), records.state(home)
    again = records.taken(home, folders)
    assert again.runs == first.runs
    assert [note.partition(" is there already")[0] for note in again.notes] == [
        f"run {folder.name.partition('-')[0]}" for folder in sorted(folders.iterdir())
    ]
    assert records.state(home) == before
    assert os.listdir(arrivals.folder(home)) == []


def test_nothing_needs_to_be_sent_of_what_is_there(folders: Path, tmp_path: Path) -> None:
    """The digests of a folder's files suffice to know that it is there already."""
    home = records.fresh(tmp_path / "home")
    records.taken(home, folders)
    with Catalog.open(home) as catalog:
        unsent = tuple(
            UploadedFolder(each.name, tuple(replace(file, upload_id="") for file in each.files))
            for each in records.sent(home, folders)
        )
        assert len(intake.take(catalog, home, unsent).notes) == 3


def test_what_was_not_sent_and_is_not_there_is_refused(folders: Path, tmp_path: Path) -> None:
    """Whoever believed that a run is here sends it again."""
    home = records.fresh(tmp_path / "home")
    with Catalog.open(home) as catalog:
        (first, *_) = records.sent(home, folders)
        unsent = UploadedFolder(first.name, tuple(replace(file, upload_id="") for file in first.files))
        with pytest.raises(errors.Refused, match="was not sent"):
            intake.take(catalog, home, (unsent,))


def test_a_folder_may_come_as_several_entries(folders: Path, tmp_path: Path) -> None:
    """A list of a request has an end; the files of one folder may be spread over several."""
    home = records.fresh(tmp_path / "home")
    with Catalog.open(home) as catalog:
        single = tuple(
            UploadedFolder(each.name, (file,)) for each in records.sent(home, folders) for file in each.files
        )
        assert len(intake.take(catalog, home, single).runs) == 3


def test_an_imported_run_has_children_as_it_had_there(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """A child of the same point from the same snapshot trains here what its twin trained there, bit for bit."""
    home = records.fresh(tmp_path / "home")
    records.taken(home, folders)
    with Catalog.open(home) as catalog:
        snapshot = branching.snapshot_of(catalog, catalog.run(lineage.parent.run_id), 10)
        branching.branch(catalog, home, snapshot, token="another")
        twin = parents.carry_out(catalog, home)
        assert twin.plan == lineage.child.plan
        losses = [list(catalog.metrics(run, ("loss",))) for run in (twin.run_id, lineage.child.run_id)]
        assert losses[0] == losses[1]


def test_a_child_under_its_token_is_reached(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """The token that started a child there stands for the same child here, and starts no second one."""
    home = records.fresh(tmp_path / "home")
    records.taken(home, folders)
    with Catalog.open(home) as catalog:
        snapshot = branching.snapshot_of(catalog, catalog.run(lineage.parent.run_id), 10)
        (child,) = branching.branch(catalog, home, snapshot)
    assert child.run_id == lineage.child.run_id


def test_an_imported_run_can_be_deleted_and_come_back(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """An id that was deleted here is taken back by its folder, which is said; and may be deleted again."""
    home = records.fresh(tmp_path / "home")
    records.taken(home, folders)
    with Catalog.open(home) as catalog:
        for _ in range(2):
            delete.delete(catalog, home, lineage.child.run_id)
            found = intake.take(catalog, home, records.sent(home, folders))
            assert f"run {lineage.child.run_id} had been deleted here, and is back" in found.notes
        assert catalog.run(lineage.child.run_id).parent_run_id == lineage.parent.run_id


def test_a_parent_that_is_here_need_not_come_again(lineage: records.Lineage, copy: Path, tmp_path: Path) -> None:
    """A child's folder alone is taken in where its parent is."""
    home = records.fresh(tmp_path / "home")
    aside = tmp_path / "aside"
    aside.mkdir()
    records.place(copy, lineage.child).rename(records.place(aside, lineage.child))
    records.taken(home, copy)
    (run,) = records.taken(home, aside).runs
    assert run.parent_run_id == lineage.parent.run_id


def test_names_that_are_taken_here_stay(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """A dataset's name goes on meaning what it means here, and a workload of that name is the one; both are said."""
    home = records.fresh(tmp_path / "home")
    with Catalog.open(home) as catalog:
        name = lineage.parent.dataset_name
        catalog.add_dataset("0" * 64, example_count=1, size_bytes=1, name=name)
        workload = catalog.add_workload(lineage.parent.workload)
        found = intake.take(catalog, home, records.sent(home, folders))
        assert catalog.dataset(name).hash == "0" * 64
        assert {run.workload_id for run in found.runs} == {workload.workload_id}
        assert catalog.dataset(lineage.parent.dataset).names == ()
    assert any(f"dataset {name} is {'0' * 12} here" in note for note in found.notes)


def test_a_workload_keeps_its_id_where_that_is_free(lineage: records.Lineage, home: Home) -> None:
    """So that a run shows the one that it had."""
    with records.opened(home.path) as (catalog, _):
        assert catalog.workload(lineage.parent.workload).workload_id == lineage.parent.workload_id


def test_a_token_that_means_something_else_here_is_left_out(folders: Path, copy: Path, tmp_path: Path) -> None:
    """No token ever stands for two things; the run is listed without it, and that is said."""
    home = records.fresh(tmp_path / "home")
    records.taken(home, folders)
    for folder in copy.iterdir():
        shutil.rmtree(folder)
    found = records.lineage(tmp_path / "source", rate=5e-4)
    records.exported(found, copy, found.child, found.other)
    notes = records.taken(home, copy).notes
    assert notes == (f"submission 'token' is another one here; run {found.child.run_id} is listed without it",)
    with Catalog.open(home) as catalog:
        assert catalog.run(found.child.run_id).submission_id is None


def test_a_run_on_a_model_that_is_not_here_can_be_read(lineage: records.Lineage, home: Home) -> None:
    """The catalog asks no base model whether it is there; only who trains from the run is refused."""
    with records.opened(home.path) as (catalog, opened):
        run = catalog.run(lineage.other.run_id)
        assert run.base_model == lineage.other.base_model
        assert start.preview(catalog, opened, _descriptor_of(run)).plan["baseModel"] == run.plan["baseModel"]


def _descriptor_of(run: Run) -> dict[str, Any]:
    return {"kind": "run", "workload": run.workload, "baseModel": run.base_model, "config": run.config}
