"""The folder that a run is asked for in, as git itself tells of it; and nothing where git does not."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time

import pytest

from akka_optimize.actions.training.runs import origin as action
from akka_optimize.actions.training.runs.origin import origin
from akka_optimize.errors import Exhausted, Refused
from akka_optimize.records import Origin

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
pytestmark = needs_git


def git(*words, text=True):
    """What git prints, as a user without any configuration gets it."""
    who = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"]
    return subprocess.run(["git", *who, *words], capture_output=True, check=True, text=text).stdout


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """A folder in no repository, and no configuration but the test's own."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def repository(alone):
    """The folder as a repository of one commit with one file of text and one of bytes."""
    git("init", "-q")
    (alone / "train.py").write_text("".join(f"line {i}\n" for i in range(30)))
    (alone / "weights").write_bytes(bytes(range(256)))
    git("add", ".")
    git("commit", "-q", "-m", "first")
    return alone


def head():
    """The commit that is checked out."""
    return git("rev-parse", "HEAD").strip()


def test_a_clean_folder_is_a_commit(repository):
    """And no diff, whether it is asked for or not."""
    assert origin(False) == origin(True) == Origin(head(), None)


def test_a_dirty_folder_has_the_hash_of_its_diff(repository):
    """The one that `git diff HEAD --binary | sha256sum` prints, staged changes and bytes included."""
    (repository / "train.py").write_text("another line\n")
    git("add", "train.py")
    (repository / "weights").write_bytes(b"\0other\xff")
    diff = git("diff", "HEAD", "--binary", text=False)
    assert b"GIT binary patch" in diff
    told = Origin(head(), hashlib.sha256(diff).hexdigest())
    assert origin(False) == told
    assert origin(True) == Origin(told.commit, told.diff_sha256, diff)


def test_the_diff_can_be_applied(repository):
    """From the commit and the diff comes the folder as it was."""
    (repository / "weights").write_bytes(b"\0other\xff")
    diff = origin(True).diff
    git("checkout", "-q", "--", ".")
    subprocess.run(["git", "apply"], input=diff, check=True, capture_output=True)
    assert (repository / "weights").read_bytes() == b"\0other\xff"


def test_a_new_file_that_git_does_not_follow_is_not_told_of(repository):
    """The folder counts as clean."""
    (repository / "notes.txt").write_text("mine")
    assert origin(False).diff_sha256 is None


def test_a_subfolder_tells_of_the_whole_repository(repository, monkeypatch):
    """Wherever in it the command is given."""
    (repository / "train.py").write_text("another line\n")
    whole = origin(True)
    (repository / "below").mkdir()
    monkeypatch.chdir(repository / "below")
    assert origin(True) == whole


def test_a_users_configuration_changes_nothing(repository, tmp_path, monkeypatch):
    """Prefixes, colours, algorithms, context, an external diff and a hook of the file system's watcher."""
    text = (repository / "train.py").read_text()
    (repository / "train.py").write_text(text.replace("line 7\n", "").replace("line 20\n", "other\n"))
    plain, trap = origin(True), tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o700)
    (tmp_path / "gitconfig").write_text(
        "[diff]\n noprefix = true\n mnemonicPrefix = true\n algorithm = patience\n context = 1\n relative = true\n"
        f" external = {trap}\n[color]\n ui = always\n[core]\n fsmonitor = {trap}\n pager = {trap}\n abbrev = 20\n"
    )
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    assert origin(True) == plain
    assert not (tmp_path / "sprung").exists()


def test_outside_a_repository_nothing_is_told(alone):
    """And --include-diff, which cannot be had, is refused."""
    assert origin(False) is None
    with pytest.raises(Refused, match="--include-diff"):
        origin(True)


def test_a_repository_without_a_commit_tells_nothing(alone):
    """There is nothing to name."""
    git("init", "-q")
    assert origin(False) is None


def test_without_git_nothing_is_told(repository, monkeypatch):
    """A trainer's user may have none."""
    monkeypatch.setenv("PATH", str(repository))
    assert origin(False) is None


def test_a_folder_that_is_gone_tells_nothing(repository):
    """The command goes on without."""
    shutil.rmtree(repository)
    assert origin(False) is None


def test_a_diff_over_1_mib_is_hashed_and_not_kept(repository):
    """Asked for, it is refused, with what to do; else only its hash is told."""
    (repository / "train.py").write_text("".join(f"{i}\n" for i in range(200_000)))
    assert origin(False).diff_sha256 is not None
    with pytest.raises(Exhausted, match="at most 1048576") as caught:
        origin(True)
    assert "commit first" in caught.value.hint


def test_a_git_that_hangs_is_left(repository, tmp_path, monkeypatch):
    """With all that it has started, after a moment."""
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nsleep 60 &\nwait\n")
    (slow / "git").chmod(0o700)
    monkeypatch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
    monkeypatch.setattr(action, "SECONDS", 0.2)
    began = time.monotonic()
    assert origin(False) is None
    assert time.monotonic() - began < 20
