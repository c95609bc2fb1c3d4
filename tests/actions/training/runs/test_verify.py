"""Which of the things to check are folders, and what they come to together."""

from __future__ import annotations

import pytest
from support import recorded

from akka_optimize import errors
from akka_optimize.actions.training.runs.verify import is_folder, require_sound, verify
from akka_optimize.records import Mismatch, Verification

SOUND = Verification("runs/a", "a", "b", 1, 1, ())
DAMAGED = Verification("runs/b", "b", "b", 1, 1, (Mismatch("run.json", "is missing"),))


class Trainer:
    """Knows two runs, and remembers what it was asked for."""

    def __init__(self):
        self.asked = []

    def verify_run(self, ref):
        """What checking the run came to."""
        self.asked.append(ref)
        return {"sound": SOUND, "damaged": DAMAGED}[ref]


def no_trainer():
    """For what has to do without."""
    raise AssertionError("a trainer was asked for")


def test_folders_are_checked_without_a_trainer(tmp_path, monkeypatch):
    """By path or by name, where they are."""
    folder = recorded.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = verify(no_trainer, [folder.name, f"./{folder.name}", str(folder), f"{folder.name}/"])
    assert [each.folder for each in found.folders] == [folder.name, folder.name, str(folder), folder.name]
    assert found.sound


def test_runs_are_asked_of_the_trainer(tmp_path):
    """In the order in which they were named, among folders; the same run twice is checked twice."""
    trainer, folder = Trainer(), recorded.write(tmp_path)
    found = verify(lambda: trainer, ["sound", str(folder), "damaged", "sound"])
    assert trainer.asked == ["sound", "damaged", "sound"]
    assert [each.folder for each in found.folders] == ["runs/a", str(folder), "runs/b", "runs/a"]
    assert not found.sound


def test_a_folder_that_is_none_is_refused_before_anything_is_read(tmp_path):
    """However far down the line it stands."""
    trainer = Trainer()
    with pytest.raises(errors.NotFound, match="no such folder"):
        verify(lambda: trainer, ["sound", str(tmp_path / "gone")])
    with pytest.raises(errors.Invalid, match="not the folder of a run"):
        verify(lambda: trainer, ["sound", str(tmp_path)])
    assert trainer.asked == []


@pytest.mark.parametrize(
    ("name", "folder"), [("first", False), ("here", True), ("./first", True), ("a/b", True), (".", True), ("/", True)]
)
def test_what_is_a_folder(tmp_path, monkeypatch, name, folder):
    """What is one, and what is written as a path."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_folder(name) == folder


def test_damage_is_a_failure():
    """With how many of how many."""
    trainer = Trainer()
    require_sound(verify(lambda: trainer, ["sound", "sound"]))
    with pytest.raises(errors.Refused, match=r"1 of 2 records did not pass"):
        require_sound(verify(lambda: trainer, ["sound", "damaged"]))
    with pytest.raises(errors.Refused, match=r"the record did not pass"):
        require_sound(verify(lambda: trainer, ["damaged"]))
