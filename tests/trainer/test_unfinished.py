"""Folders that were on their way in or out when their process ended."""

from __future__ import annotations

import json
import threading

import pytest
from support import life, parents

from akka_optimize import errors
from akka_optimize.trainer import delete, recover, start, unfinished
from akka_optimize.trainer.catalog import Catalog


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def run(trainer):
    """A run in the queue."""
    return start.start(*trainer, life.descriptor())


def interrupted(trainer, *folders):
    """Leave the note of a process that moved these folders and died."""
    (trainer[1].path / "unfinished.json").write_text(json.dumps(folders))


def test_a_folder_without_a_run_goes(trainer, run):
    """Beside its place or in it; other folders, and the run's own, are left alone."""
    catalog, home = trainer
    for name in ("ffff-1", ".tmp-ffff-1", ".tmp-eeee-1", "not-noted"):
        (home.runs / name / "snapshots").mkdir(parents=True)
    interrupted(trainer, "runs/ffff-1", "runs/eeee-1", run.folder)
    recover.recover(catalog, home)
    assert {path.name for path in home.runs.iterdir()} == {"not-noted", run.folder.removeprefix("runs/")}
    assert not (home.path / "unfinished.json").exists()


def test_a_run_without_its_folder_gets_it_back(trainer, run):
    """A deletion that did not come to its end has not happened."""
    catalog, home = trainer
    place = home.path / run.folder
    place.rename(unfinished.beside(place))
    interrupted(trainer, run.folder)
    recover.recover(catalog, home)
    assert (place / "config.json").is_file()
    assert not unfinished.beside(place).exists()


@pytest.mark.parametrize("text", ["", '["runs/ff', "\0\0\0"], ids=["empty", "torn", "zeros"])
def test_a_torn_note_says_nothing(trainer, run, text):
    """Nothing is moved before the note is whole."""
    catalog, home = trainer
    (home.path / "unfinished.json").write_text(text)
    recover.recover(catalog, home)
    assert (home.path / run.folder).is_dir()
    assert not (home.path / "unfinished.json").exists()


def test_a_move_that_is_under_way_is_left_alone(trainer):
    """Who opens the home meanwhile touches nothing; who wants to move folders too waits for it."""
    catalog, home = trainer
    folder = home.runs / "ffff-1"
    waiting = threading.Event()

    def submit():
        waiting.set()
        with Catalog.open(home) as own:
            start.start(own, home, life.descriptor())

    with unfinished.alone(catalog, home), unfinished.moving(catalog, home, ["runs/ffff-1"]):
        folder.mkdir()
        recover.recover(catalog, home)
        assert folder.is_dir()
        other = threading.Thread(target=submit)
        other.start()
        waiting.wait()
        assert catalog.runs().total == 0
    other.join()
    assert not folder.exists()
    assert catalog.runs().total == 1


def test_a_submission_puts_right_what_an_earlier_one_left(trainer):
    """A server that is never opened anew does so too."""
    catalog, home = trainer
    (home.runs / "ffff-1").mkdir()
    interrupted(trainer, "runs/ffff-1")
    run = start.start(catalog, home, life.descriptor())
    assert [path.name for path in home.runs.iterdir()] == [run.folder.removeprefix("runs/")]


def test_who_waits_too_long_is_told(trainer, monkeypatch):
    """A process that was stopped in the middle holds up others for a time, and not for ever."""
    catalog, home = trainer
    monkeypatch.setattr(unfinished, "PATIENCE_SECONDS", 0.05)
    with home.lock("folders"), pytest.raises(errors.TimedOut, match="another process"):
        start.start(catalog, home, life.descriptor())
    assert catalog.runs().total == 0


def test_a_disk_that_refuses_is_said_and_stops_nothing(trainer, run, monkeypatch):
    """A home whose leftovers cannot be cleared can be opened all the same."""
    catalog, home = trainer
    interrupted(trainer, run.folder)
    monkeypatch.setattr(unfinished, "_read", lambda _note: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    (note,) = recover.recover(catalog, home)
    assert "could not be cleared away" in note
    assert "input/output error" in note


def test_a_deleted_runs_folder_goes(trainer, run):
    """With everything in it, and nothing beside its place; the run is told as it was."""
    catalog, home = trainer
    catalog.request_cancel(run.run_id)
    assert delete.delete(catalog, home, run.run_id[:6]).phase == "CANCELLED"
    assert list(home.runs.iterdir()) == []
    assert not (home.path / "unfinished.json").exists()


def test_a_folder_that_somebody_removed_is_no_obstacle(trainer, run):
    """Its run can be deleted still."""
    catalog, home = trainer
    parents.carry_out(catalog, home)
    (home.path / run.folder).rename(home.path / "elsewhere")
    assert delete.delete(catalog, home, run.run_id).run_id == run.run_id


def test_a_refused_deletion_leaves_the_folder(trainer, run):
    """A run that has not ended, and one whose worker still writes."""
    catalog, home = trainer
    with pytest.raises(errors.Refused, match="is QUEUED"):
        delete.delete(catalog, home, run.run_id)
    catalog.request_cancel(run.run_id)
    with home.lock(f"run-{run.run_id}"), pytest.raises(errors.Refused, match="still writing"):
        delete.delete(catalog, home, run.run_id)
    assert (home.path / run.folder / "run.json").is_file()


def test_a_deletion_that_the_catalog_refuses_at_last_has_not_happened(trainer, run, monkeypatch):
    """The folder is back in its place."""
    catalog, home = trainer
    catalog.request_cancel(run.run_id)
    monkeypatch.setattr(catalog, "delete_run", lambda _id: (_ for _ in ()).throw(errors.Exhausted("no room")))
    with pytest.raises(errors.Exhausted):
        delete.delete(catalog, home, run.run_id)
    assert (home.path / run.folder / "run.json").is_file()
    assert len(list(home.runs.iterdir())) == 1
