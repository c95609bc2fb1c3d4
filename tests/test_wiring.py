"""Where `local:` keeps its runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from akka_optimize import errors
from akka_optimize.wiring import _home


def test_a_folder_is_below_the_working_directory_or_the_home_folder(monkeypatch, tmp_path):
    """A relative one, the default one, and one with a tilde."""
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)
    found = [_home(folder) for folder in ("x", "", "~/y", "/z")]
    assert found == [tmp_path / "x", Path("/home/me/.akka/trainer"), Path("/home/me/y"), Path("/z")]


@pytest.mark.parametrize("folder", ["", "~", "~/runs"])
def test_an_empty_home_folder_is_none(monkeypatch, folder):
    """Nothing is kept at the root of the file system because HOME is empty."""
    monkeypatch.setenv("HOME", "")
    with pytest.raises(errors.WrongUsage, match="there is none"):
        _home(folder)


def test_a_working_directory_that_is_gone_is_told(monkeypatch, tmp_path):
    """A relative folder has no place then; one with a whole path has."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    os.rmdir(tmp_path / "gone")
    with pytest.raises(errors.WrongUsage, match="local:x is below the working directory, which is there no more"):
        _home("x")
    assert _home("/z") == Path("/z")


def test_a_path_that_is_not_utf8_is_told(monkeypatch):
    """Wherever it came from: a home is named in what is printed."""
    monkeypatch.setenv("HOME", "/home/caf\udce9")
    with pytest.raises(errors.WrongUsage, match=r"the path of the trainer's home: .* is not UTF-8"):
        _home("")
