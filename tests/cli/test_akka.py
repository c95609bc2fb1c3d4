"""`akka`: ours behind `optimize`, the next one on PATH for any other word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from akka_optimize import __version__
from akka_optimize.cli.akka import next_akka, word_at


def script(folder: Path, text: str = "") -> Path:
    """An executable `akka` in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "akka"
    file.write_text(text or f'#!/bin/sh\necho {folder.name} "$@"; exit 7\n')
    file.chmod(0o755)
    return file


@pytest.fixture
def ours(tmp_path):
    """Our `akka`, as an installer writes it."""
    return script(tmp_path / "ours", f"#!{sys.executable}\nfrom akka_optimize.cli.akka import main\nmain()\n")


def akka(ours: Path, *args: str, path: list[Path]) -> subprocess.CompletedProcess[str]:
    """Run it with this PATH."""
    environ = os.environ | {"PATH": os.pathsep.join(map(str, path))}
    return subprocess.run([ours, *args], capture_output=True, text=True, check=False, env=environ, timeout=60)


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ([], None),
        (["optimize"], 0),
        (["--force", "optimize"], 1),
        (["-o", "json", "optimize"], 2),
        (["-ojson", "optimize"], 1),
        (["--output=json", "optimize"], 1),
        (["--context", "optimize", "services"], 2),
        (["--timeout", "5s", "-q", "services", "optimize"], 3),
        (["--version"], None),
        (["-o"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_first_word_is_found_behind_options(args, word):
    """An option's value is not taken for a word."""
    assert word_at(args) == word


@pytest.mark.parametrize("args", [["optimize", "--version"], ["-o", "text", "optimize", "--version"]])
def test_optimize_is_ours(ours, args):
    """Also with options before it, and whatever else is on PATH."""
    done = akka(ours, *args, path=[ours.parent])
    assert (done.returncode, done.stdout) == (0, f"akka-optimize {__version__}\n")


def test_our_help_says_akka_optimize(ours):
    """The way it was called is the way that is shown."""
    assert "\n  akka optimize COMMAND [flags]\n" in akka(ours, "optimize", "--help", path=[ours.parent]).stdout
    assert "--force" in akka(ours, "optimize", "--help", path=[ours.parent]).stdout


@pytest.mark.parametrize("args", [["services", "list", "--x", "a b"], ["--help"], ["--version"], []])
def test_any_other_word_goes_to_the_next_akka(ours, tmp_path, args):
    """It gets all the words as they are, and its exit code is ours."""
    other = script(tmp_path / "other")
    done = akka(ours, *args, path=[ours.parent, other.parent])
    assert (done.returncode, done.stdout) == (7, " ".join(["other", *args]) + "\n")


def test_without_another_akka_it_says_what_it_offers(ours, tmp_path):
    """One sentence, 127."""
    done = akka(ours, "services", path=[ours.parent, tmp_path])
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == ("Error: this package provides only `akka optimize`, and there is no other `akka` on PATH\n")


def test_one_that_cannot_be_run_says_so(ours, tmp_path):
    """126, with the reason."""
    other = script(tmp_path / "other", "#!/no/such/interpreter\n")
    done = akka(ours, "services", path=[ours.parent, other.parent])
    assert (done.returncode, done.stderr) == (126, f"Error: {other} cannot be run: No such file or directory\n")


def test_two_of_ours_do_not_hand_the_word_round(ours, tmp_path):
    """Each looks only behind its own place on PATH, so that it ends."""
    second = script(tmp_path / "second", ours.read_text())
    done = akka(ours, "services", path=[ours.parent, second.parent])
    assert done.returncode == 127


def test_itself_is_never_the_next(tmp_path):
    """Not under another name, not twice on PATH, and not what is no program."""
    own, other = script(tmp_path / "own"), script(tmp_path / "other")
    link = tmp_path / "link"
    link.mkdir()
    (link / "akka").symlink_to(own)
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "akka").write_text("not executable")
    (tmp_path / "folder" / "akka").mkdir(parents=True)

    def path(*names: str) -> str:
        return os.pathsep.join(str(tmp_path / name) for name in names)

    assert next_akka(str(own), path("own", "link", "plain", "folder", "missing", "other")) == str(other)
    assert next_akka(str(link / "akka"), path("link", "own")) is None
    assert next_akka(str(own), path("other", "own")) is None
    assert next_akka("/elsewhere/akka", path("other", "own")) == str(other)
    assert next_akka(str(own), "") is None
