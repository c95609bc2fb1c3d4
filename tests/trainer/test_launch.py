"""Any number of calls leave one worker, and it outlives the command that started it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import life

from akka_optimize.trainer import launch, slots, start

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes under /proc")


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows, where an update takes 20 ms."""
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0.02")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home
        life.until(lambda: worker_left(home), "the worker to leave")


@pytest.fixture
def started(monkeypatch):
    """The processes that were started, as they are started."""
    processes, popen = [], subprocess.Popen

    def count(*args, **kwargs):
        processes.append(popen(*args, **kwargs))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", count)
    return processes


def worker_left(home):
    """Does no worker hold the home?"""
    lock = slots.take(home)
    if lock is None:
        return False
    lock.release()
    return True


def test_a_submitted_run_is_carried_out(trainer):
    """After `ensure_worker` the run comes to its end by itself, and the worker leaves."""
    catalog, home = trainer
    run = start.start(catalog, home, life.descriptor())
    launch.ensure_worker(home)
    life.until(lambda: catalog.run(run.run_id).phase == "COMPLETED", "the run to end")


def test_many_calls_start_one_worker(trainer, started):
    """The lock passes to the new process at its start, so there is no moment in which a second one could be started."""
    catalog, home = trainer
    runs = [start.start(catalog, home, life.descriptor()) for _ in range(2)]
    for _ in range(10):
        launch.ensure_worker(home)
        assert not worker_left(home)
    assert len(started) == 1
    for run in runs:
        life.until(lambda run=run: catalog.run(run.run_id).phase == "COMPLETED", "the runs to end")


def test_a_worker_that_died_is_replaced(trainer, started, monkeypatch):
    """When the process is killed, its lock goes with it, and the next call starts another."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    launch.ensure_worker(home)
    started[0].kill()
    started[0].wait()
    launch.ensure_worker(home)
    assert len(started) == 2


def test_a_worker_can_be_told_to_end(trainer, started):
    """From its start on, before it has loaded anything, its place says who it is; and none after it has left."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    launch.ensure_worker(home)
    assert [worker.pid for worker in slots.holders(home)] == [started[0].pid]
    slots.tell(slots.holders(home), signal.SIGTERM)
    started[0].wait(life.PATIENCE_SECONDS)
    assert slots.holders(home) == []


def test_whoever_ends_starts_no_worker(trainer, started):
    """While they are held back the queue waits; afterwards a worker is started as ever."""
    catalog, home = trainer
    run = start.start(catalog, home, life.descriptor())
    with launch.held_back():
        assert launch.ensure_worker(home) == 0
    assert started == []
    assert launch.ensure_worker(home) == 1
    life.until(lambda: catalog.run(run.run_id).phase == "COMPLETED", "the run to end")


@needs_proc
def test_a_worker_never_knows_the_token(trainer, started, monkeypatch):
    """The service's token is not in the environment of what it starts."""
    monkeypatch.setenv(launch.TOKEN_VARIABLE, "secret-of-the-service")
    start.start(trainer[0], trainer[1], life.descriptor())
    launch.ensure_worker(trainer[1])
    environ = Path(f"/proc/{started[0].pid}/environ")
    life.until(environ.read_bytes, "the new program to have its environment")
    assert b"secret-of-the-service" not in environ.read_bytes()


@needs_proc
def test_the_worker_stands_on_its_own(trainer, started):
    """It has a session of its own, no terminal, no folder that it keeps busy, one thread, and a log."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    launch.ensure_worker(home)
    pid = started[0].pid
    assert os.getsid(pid) == pid
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.readlink(f"/proc/{pid}/fd/0") == os.devnull
    assert os.readlink(f"/proc/{pid}/fd/1") == os.readlink(f"/proc/{pid}/fd/2")
    life.until(Path(f"/proc/{pid}/environ").read_bytes, "the new program to have its environment")
    environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert {b"OMP_NUM_THREADS=1", b"MKL_NUM_THREADS=1", b"OMP_WAIT_POLICY=PASSIVE"} <= set(environ)
    assert started[0].args[0] == sys.executable


def test_the_worker_outlives_its_starter(trainer):
    """A command that submits a run and ends leaves a worker behind that finishes it."""
    catalog, home = trainer
    code = (
        "import sys; from support import life; from akka_optimize.trainer import launch, start;"
        "from akka_optimize.trainer.home import Home; from akka_optimize.trainer.catalog import Catalog;"
        "home = Home.open(sys.argv[1]); catalog = Catalog.open(home);"
        "start.start(catalog, home, life.descriptor()); launch.ensure_worker(home)"
    )
    subprocess.run([sys.executable, "-c", code, str(home.path)], cwd=life.TESTS, check=True, timeout=20)
    life.until(lambda: catalog.counts()["COMPLETED"] == 1, "the run to end")


LAUNCHING = """
import sys
from support import life
from akka_optimize.trainer import launch, start
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
home = Home.open(sys.argv[1])
with Catalog.open(home) as catalog:
    start.start(catalog, home, life.descriptor())
launch.ensure_worker(home)
"""


def launching(home, folder, **environ):
    """A command that submits a run, leaves a worker behind and ends; what it complained about."""
    ended = subprocess.run(
        [sys.executable, "-c", LAUNCHING, str(home.path)],
        cwd=folder,
        env=os.environ | environ,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.stderr


def test_a_worker_that_is_left_behind_is_no_complaint(trainer):
    """A command under PYTHONWARNINGS=error ends without a word while its worker goes on."""
    catalog, home = trainer
    assert launching(home, life.TESTS, PYTHONWARNINGS="error") == ""
    life.until(lambda: catalog.counts()["COMPLETED"] == 1, "the run to end")


@needs_proc
def test_a_worker_that_ended_is_no_zombie(trainer, started):
    """The next look of a server that lives long lets go of a process that has ended."""
    catalog, home = trainer
    for number in range(1, 3):
        start.start(catalog, home, life.descriptor())
        life.until(lambda: worker_left(home), "the place to be free")
        if started:
            life.until(lambda: " (zombie)" in status(started[0]), "the worker to end")
        assert launch.ensure_worker(home) == 1
        life.until(lambda number=number: catalog.counts()["COMPLETED"] == number, "the run to end")
    assert not Path(f"/proc/{started[0].pid}").exists()
    life.until(lambda: " (zombie)" in status(started[1]), "the worker to end")
    assert launch.reap() == [0]
    assert not Path(f"/proc/{started[1].pid}").exists()


def status(process):
    """What the system says of a process."""
    return Path(f"/proc/{process.pid}/status").read_text()


def test_a_worker_is_of_its_starters_package(trainer, tmp_path):
    """A relative PYTHONPATH means the starter's folder to the worker too, wherever that works."""
    catalog, home = trainer
    package = Path(launch.__file__).parents[1]
    copy = tmp_path / "copy" / package.name
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__", "cli"))
    begins = copy / "trainer" / "worker" / "__main__.py"
    begins.write_text(f"print(__file__, flush=True)\n{begins.read_text()}")
    launching(home, tmp_path, PYTHONPATH=f"copy{os.pathsep}{life.TESTS}")
    life.until(lambda: catalog.counts()["COMPLETED"] == 1, "the run to end")
    assert str(begins) in (home.path / "worker.log").read_text()
