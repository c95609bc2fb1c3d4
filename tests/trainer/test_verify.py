"""The record of a run in a home: sound on its own, and what the catalog says."""

from __future__ import annotations

import hashlib
import shutil

import pytest
from support import life, parents, recorded

from akka_optimize import errors
from akka_optimize.trainer import start
from akka_optimize.trainer.verify import verify


@pytest.fixture
def trainer(tmp_path):
    """A home, its catalog, and a run of 20 updates that saved at 10 and at 20."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        run = parents.trained(catalog, home, {"name": "first", "purpose": "to be checked"})
        yield home, catalog, run


@pytest.fixture
def told(trainer):
    """What does not match, as text."""
    home, catalog, run = trainer
    return lambda: [f"{each.file}: {each.problem}" for each in verify(catalog, home, run.run_id).mismatches]


def test_a_run_is_sound(trainer):
    """By name or id; the folder is named below the home."""
    home, catalog, run = trainer
    found = verify(catalog, home, "first")
    assert found == verify(catalog, home, run.run_id)
    assert (found.folder, found.run_id, found.config_hash) == (run.folder, run.run_id, run.config_hash)
    assert found.mismatches == ()
    files = [path for path in (home.path / run.folder).rglob("*") if path.is_file()]
    assert (found.files, found.bytes) == (len(files), sum(path.stat().st_size for path in files))


def test_damage_is_named_once(trainer, told):
    """A file that its own list disowns is not held against the catalog as well."""
    home, _, run = trainer
    (home.path / run.folder / "snapshots/10/manifest.json").write_text("{}")
    (only,) = told()
    assert only.startswith("snapshots/10/manifest.json: its sha256 begins with")


def test_a_folder_that_was_made_to_fit_is_held_against_the_catalog(trainer, told):
    """Another manifest whose list agrees is not the one that was committed."""
    home, _, run = trainer
    folder = home.path / run.folder
    recorded.edit(folder / "snapshots/10/manifest.json", lambda manifest: manifest.update(epoch=99.0))
    recorded.relist(folder)
    assert told() == ["snapshots/10/manifest.json: is not the manifest that the catalog holds of this snapshot"]


def test_another_plan_than_the_catalogs_is_named(trainer, told):
    """Though the folder is sound in itself but for its name."""
    home, _, run = trainer
    folder = home.path / run.folder
    digest = hashlib.sha256(b'{"seed": 9}').hexdigest()
    (folder / "config.json").write_text('{"seed": 9}')
    recorded.edit(folder / "run.json", lambda document: document.update(configHash=digest[:12], configSha256=digest))
    recorded.relist(folder)
    assert any(each.startswith("config.json: ") for each in told())


def test_a_kept_artifact_that_is_gone_is_named(trainer, told):
    """Though neither the list nor anything else in the folder misses it; one that was given up is no loss."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    (folder / "snapshots/10/training-state.pt").unlink()
    recorded.relist(folder)
    assert told() == ["snapshots/10/training-state.pt: is missing, and the catalog holds it as kept"]
    snapshot = next(each for each in catalog.snapshots(run.run_id).items if each.step == 10)
    catalog.sweep(snapshot.snapshot_id, {"trainingState"})
    assert told() == []


def test_a_run_that_waits_is_open(trainer):
    """What is there is checked; the list is said to be missing."""
    home, catalog, _ = trainer
    run = start.start(catalog, home, life.descriptor())
    found = verify(catalog, home, run.run_id)
    assert [each.file for each in found.mismatches] == ["checksums.txt"]
    assert "has not ended" in found.mismatches[0].problem


@pytest.mark.parametrize("left", ["nothing", "an empty folder", "a file"])
def test_a_folder_that_is_gone_is_one_mismatch(trainer, left):
    """Of the folder itself."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    shutil.rmtree(folder)
    if left == "an empty folder":
        folder.mkdir()
    elif left == "a file":
        folder.write_text("")
    found = verify(catalog, home, run.run_id)
    assert [each.file for each in found.mismatches] == [""]
    assert (found.run_id, found.files) == (run.run_id, 0)


def test_a_run_that_nobody_knows_is_refused(trainer):
    """As everywhere."""
    home, catalog, _ = trainer
    with pytest.raises(errors.NotFound):
        verify(catalog, home, "second")
