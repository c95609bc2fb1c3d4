"""Trainers that cannot be reached, and homes that cannot be used: what is said, with which code, and what is left."""

from __future__ import annotations

import errno
import os
import resource
import socket
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from support.homes import DESCRIPTOR, STEPS, CommandLine, jsonl
from support.life import until

from akka_optimize.trainer import slots
from akka_optimize.trainer.home import Home

LIST = "training runs list"


@pytest.fixture
def shell(tmp_path) -> CommandLine:
    """A home of the test's own, with rows and a workload."""
    return CommandLine(tmp_path / "home").prepare()


@contextmanager
def file_limit(size: int):
    """No file may grow beyond `size` bytes, as if the disk were full there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))  # Python ignores the signal that comes with it
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def listing(folder: Path) -> list[str]:
    """Every name below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


ADDRESSES = [
    pytest.param("ftp://localhost:9001", id="unknown-scheme"),
    pytest.param("localhost:9001", id="no-scheme"),
    pytest.param("http://", id="no-host"),
    pytest.param("http://localhost:port", id="no-port-number"),
    pytest.param("http://localhost:9001/trainer", id="a-path"),
    pytest.param("lokal:", id="mistyped"),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_none(tmp_path, address):
    """Wrong usage, with where it came from, what it was, and what to write."""
    shell = CommandLine(tmp_path)
    for argv, environ, source in (
        (LIST, {"TRAINER_URL": address}, "TRAINER_URL"),
        (LIST, {"TRAINER_URL": "", "AKKA_OPTIMIZE_URL": address}, "AKKA_OPTIMIZE_URL"),
        (["--trainer-url", address, *LIST.split()], {}, "--trainer-url"),
    ):
        ended = shell(argv, environ=environ)
        assert (ended.code, ended.out) == (2, "")
        assert f"Error: {source}: {address!r} is no trainer address" in ended.err
        assert "hint: write http://HOST:PORT, https://HOST:PORT, local: or local:FOLDER" in ended.err
    assert listing(tmp_path) == []


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_nobody_at_the_default_address(tmp_path, monkeypatch):
    """Exit 3, soon; the sentence has the address, the hint what else there is."""
    address = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setattr("akka_optimize.client.address.DEFAULT", address)
    ended = CommandLine(tmp_path)(LIST, environ={"TRAINER_URL": ""})
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith(f"Error: no trainer answers at {address}\n")
    assert "TRAINER_URL=local:" in ended.err


def test_the_default_address_is_the_seeds():
    """The one that every help text names."""
    from akka_optimize.client.address import DEFAULT

    assert DEFAULT == "http://localhost:9001"


def test_nobody_at_an_address_that_was_named(tmp_path):
    """The hint says who named it."""
    ended = CommandLine(tmp_path)(LIST, environ={"TRAINER_URL": "http://127.0.0.1:1"})
    assert (ended.code, ended.out) == (3, "")
    assert "no trainer answers at http://127.0.0.1:1" in ended.err
    assert "TRAINER_URL" in ended.err


@pytest.mark.parametrize("argv", [LIST, "training info", "datasets create -f - --name x"])
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        pytest.param("file/home", "is not a folder", id="below-a-file"),
        pytest.param("file", "is not a folder", id="a-file"),
        pytest.param("/proc/home", "cannot be used", id="below-proc"),
        pytest.param("strange", "is not a trainer home, and is not empty", id="somebody-elses-folder"),
        pytest.param("newer", "has format 999, made by a newer akka-optimize", id="made-by-a-newer-version"),
        pytest.param("garbled", "does not hold a version number", id="a-version-that-is-none"),
    ],
)
def test_a_home_that_cannot_be_used(tmp_path, place, reason, argv):
    """Exit 1, with the place and the reason; nothing is created, also not beside it."""
    (tmp_path / "file").write_text("mine")
    for name, content in (
        ("strange", {"notes.txt": "mine"}),
        ("newer", {"version": "999\n"}),
        ("garbled", {"version": "?"}),
    ):
        (tmp_path / name).mkdir()
        for file, text in content.items():
            (tmp_path / name / file).write_text(text)
    before = listing(tmp_path)
    ended = CommandLine(tmp_path / place)(argv, stdin=jsonl(1))
    assert (ended.code, ended.out) == (1, "")
    assert reason in ended.err
    assert place.split("/")[-1] in ended.err
    assert listing(tmp_path) == before


def test_a_catalog_made_by_a_newer_version(shell):
    """The database is versioned apart from the folder; it is refused without being touched."""
    with closing(sqlite3.connect(shell.folder / "catalog.sqlite")) as catalog, catalog:
        tables = [name for (name,) in catalog.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        (table,) = [name for name in tables if "version" in name or "migration" in name]
        (column, *_) = [row[1] for row in catalog.execute(f"PRAGMA table_info({table})")]
        catalog.execute(f"UPDATE {table} SET {column} = 999 WHERE {column} = 1")
    before = shell.state()
    ended = shell(LIST)
    assert (ended.code, ended.out) == (1, "")
    assert "newer" in ended.err
    assert shell.state() == before


def test_a_home_without_a_home_folder(monkeypatch):
    """`local:` alone needs to know where the user lives."""
    monkeypatch.setattr("pathlib.Path.expanduser", no_home)
    ended = CommandLine(Path("unused"))(LIST, environ={"TRAINER_URL": "local:"})
    assert (ended.code, ended.out) == (2, "")
    assert "local:DIR" in ended.err


def no_home(path):
    """What pathlib says where there is no home folder."""
    raise RuntimeError("Could not determine home directory.")


def test_a_disk_that_is_full_before_a_home_is_made(tmp_path):
    """Exit 1, the disk named as the reason, and no half of a home that a later command would stumble over."""
    shell = CommandLine(tmp_path / "home")
    with file_limit(0):
        ended = shell(LIST)
    assert (ended.code, ended.out) == (1, "")
    assert f"{os.strerror(errno.EFBIG).lower()}" in ended.err or "full" in ended.err
    assert "make room on the disk" in ended.err
    assert shell(LIST).code == 0


FULL = [
    pytest.param("datasets create -f - --name more", jsonl(4000), 1 << 17, id="an-upload"),
    pytest.param("training workloads create more", "", 0, id="a-workload"),
    pytest.param(f"training runs start -f - --force --set {STEPS}=5", DESCRIPTOR, 0, id="a-run"),
]


@pytest.mark.parametrize(("argv", "stdin", "limit"), FULL)
def test_a_disk_that_is_full(shell, argv, stdin, limit):
    """Exit 1 and "make room"; afterwards everything is as before, and the same command does its work."""
    before = shell.state()
    with file_limit(limit):
        ended = shell(argv, stdin=stdin)
    assert (ended.code, ended.out) == (1, ""), ended.err
    assert "make room on the disk" in ended.err
    assert shell.state() == before
    shell.ok(argv, stdin=stdin)


def test_a_disk_that_is_full_keeps_even_readers_out(shell):
    """The database needs a little room to be read at all; that is said for what it is."""
    with file_limit(0):
        ended = shell("datasets list")
    assert (ended.code, ended.out) == (1, "")
    assert "the disk is full" in ended.err
    assert shell.ok("datasets list --jq .datasets[].names[0]") == "triage-train\n"


def test_home_and_folders_are_closed_to_others(shell):
    """Rows can be private: mode 0700."""
    assert oct(shell.folder.stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize("exclusive", [False, True], ids=["a-writer", "for-itself-alone"])
def test_a_catalog_that_another_process_holds(shell, exclusive):
    """Exit 3 within the time allowed and not half a minute later, naming the catalog; nothing is changed."""
    before = shell.state()
    with closing(sqlite3.connect(shell.folder / "catalog.sqlite", isolation_level=None)) as other:
        if exclusive:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        ended = shell("training workloads create other --timeout 200ms")
        assert time.monotonic() - begun < 5
        other.execute("ROLLBACK")
    assert (ended.code, ended.out) == (3, "")
    assert f"the catalog {shell.folder}/catalog.sqlite was held by another process for 0.2 s" in ended.err
    assert shell.state() == before


def workerless(shell: CommandLine) -> bool:
    """Does no worker hold its place?"""
    lock = slots.take(Home(shell.folder))
    if lock is not None:
        lock.release()
    return lock is not None


def test_a_wait_on_a_full_disk(shell):
    """When the worker died and not even that can be written, waiting ends with what is wrong; looking still works."""
    run_id = shell.start(environ={"AKKA_ARITHMETIC_FAULT": "kill:3"})
    with closing(sqlite3.connect(shell.folder / "catalog.sqlite")) as catalog:
        phase = "SELECT phase FROM runs"
        until(lambda: catalog.execute(phase).fetchone() == ("TRAINING",) and workerless(shell), "the worker to die")
        with file_limit(0):
            ended = shell(f"training runs wait {run_id}")
            listed = shell("training runs list")
    assert (ended.code, listed.code) == (1, 0), listed.err
    assert "Training" in ended.err  # it was watched, and not refused at the start
    assert "the disk is full" in ended.err
    assert shell.json(f"training runs get {run_id}")["failureCode"] == "WORKER_LOST"
