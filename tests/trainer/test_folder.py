"""A run's folder before the first update: who it is, what its chance comes from, and where it is carried out."""

from __future__ import annotations

import hashlib
import json
import os

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.trainer import disk, files, folder, seeds, start


@pytest.fixture
def trainer(tmp_path):
    """A home and its catalog."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield home, catalog


def started(trainer, settings=None):
    """A run that waits; its folder and what its run.json says."""
    home, catalog = trainer
    run = start.start(catalog, home, life.descriptor(settings))
    place = home.path / run.folder
    return place, folder.identity(place)


def test_identity_configuration_and_seeds_are_there_before_a_worker(trainer):
    """Name, time, purpose; the whole configuration and its hash; every seed; rows, division, environment."""
    place, told = started(trainer, {"name": "first", "purpose": "to see it", "config.seed": 7})
    digest = hashlib.sha256((place / "config.json").read_bytes()).hexdigest()
    assert (told["name"], told["purpose"]) == ("first", "to see it")
    assert told["submittedAt"].endswith("Z")
    assert (told["configSha256"], told["configHash"]) == (digest, digest[:12])
    assert place.name == f"{told['runId']}-{digest[:12]}"
    assert told["seeds"] == seeds.document(7, 1)
    assert set(told["seeds"]["processes"][0]) >= {"torch", "numpy", "python", "dropout"}
    assert told["division"]["devices"] == 1
    assert told["environment"]["packages"]["torch"]
    assert hashlib.sha256((place / "data.jsonl").read_bytes()).hexdigest() == told["dataset"]["hash"]


@pytest.mark.parametrize(("purpose", "notes"), [("to see it", 0), (None, 1)])
def test_a_missing_purpose_is_said(trainer, purpose, notes):
    """And not refused."""
    _, told = started(trainer, {"purpose": purpose})
    assert told["notes"].count(folder.NO_PURPOSE) == notes


def test_no_path_of_this_machine_is_in_the_configuration(trainer, tmp_path):
    """So that a hash is the same wherever the home lies."""
    place, _ = started(trainer)
    assert str(tmp_path) not in (place / "config.json").read_text()
    assert os.sep + "home" not in (place / "config.json").read_text()


def test_what_the_worker_finds_replaces_what_was_expected(trainer):
    """Environment and seeds; all else stays as it was."""
    place, before = started(trainer)
    folder.describe(place, environment={"device": "cpu"}, seeds={"config": 0, "processes": []})
    after = folder.identity(place)
    assert (after["environment"], after["seeds"]) == ({"device": "cpu"}, {"config": 0, "processes": []})
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"environment", "seeds"}
    folder.describe(place, environment={"device": "cuda"})
    assert folder.identity(place)["seeds"] == after["seeds"]


def test_a_folder_without_a_catalog(tmp_path):
    """The configuration is the file alone; folder, files and names are flushed before anybody sees them."""
    config = {"benih": 0, "dim": 4, "lr": 0.05, "langkah": 200}
    place = folder.write(tmp_path, "7d496e82c3a15f04", config, {"name": "first", "purpose": None})
    assert place == tmp_path / "7d496e82c3a15f04-e14ea5ff5f88"
    assert (place / "config.json").read_text() == json.dumps(config, sort_keys=True)
    told = folder.identity(place)
    assert (told["formatVersion"], told["configHash"], told["notes"]) == (1, "e14ea5ff5f88", [folder.NO_PURPOSE])
    with pytest.raises(errors.Refused, match="file exists"):
        folder.write(tmp_path, "7d496e82c3a15f04", config, {})
    assert [each.name for each in tmp_path.iterdir()] == [place.name]


def test_the_folder_is_flushed_before_it_has_its_name(tmp_path, monkeypatch):
    """Files and folder first, then the rename, then the folder around it."""
    acts = []
    real = type(tmp_path).rename
    monkeypatch.setattr(files, "flush_all", lambda paths: acts.append(sorted(path.name for path in paths)))
    monkeypatch.setattr(files, "flush_folder", acts.append)
    monkeypatch.setattr(type(tmp_path), "rename", lambda path, to: (acts.append("rename"), real(path, to)))
    place = folder.write(tmp_path, "0" * 16, {}, {})
    assert acts == [[f".tmp-{place.name}", "config.json", "run.json"], "rename", tmp_path]


def test_a_full_disk_is_said(trainer, monkeypatch):
    """What run.json said before stays."""
    place, before = started(trainer)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.files, "install", full)
    with pytest.raises(errors.Exhausted):
        folder.describe(place, environment={})
    assert folder.identity(place) == before
