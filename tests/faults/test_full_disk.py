"""A disk that fills up under a run: it stands still with the reason, loses nothing, and goes on once there is room."""

from __future__ import annotations

import os
import resource
import subprocess
from contextlib import contextmanager

import pytest
from support import decoding, killing, life, parents

from akka_optimize.trainer import recover, resume, start, verify

TRAINING = "config.hyperparams.training"
ROOM = 400_000  # bytes: more than the catalog of one run, less than a training state of the built-in engine


@contextmanager
def no_file_above(size):
    """Until the block ends, no file of this process grows beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))  # Python ignores the signal that comes with it
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_state_of_the_built_in_engine_that_finds_no_room(tmp_path):
    """Torch's own words for it are not the reason; after room is made the run ends as one that had it all along."""
    settings = life.descriptor({"baseModel": decoding.MODEL, f"{TRAINING}.maxSteps": 2})
    (tmp_path / "calm").mkdir()
    home, catalog = life.open_home(tmp_path / "calm")
    with catalog:
        start.start(catalog, home, settings)
        calm = curves(catalog, parents.carry_out(catalog, home))
    home, catalog = life.open_home(tmp_path)
    with catalog:
        start.start(catalog, home, settings)
        with no_file_above(ROOM):
            run = parents.carry_out(catalog, home)
        assert (run.phase, run.failure_code, run.observed_step, run.saved_step) == ("PAUSED", "DISK_FULL", 2, None)
        assert run.pause.reason == "there is no room for what the run records: file too large"
        assert list((home.path / run.folder / "snapshots").iterdir()) == []
        assert verify.verify(catalog, home, run.run_id).mismatches == ()
        resume.resume(catalog, home, run.run_id)
        ended = parents.carry_out(catalog, home)
        assert (ended.phase, ended.attempt) == ("COMPLETED", 2)
        assert curves(catalog, ended) == calm


def curves(catalog, run):
    """All that the run recorded but how long it took."""
    return {name: column for name, column in killing.curves(catalog, run).items() if name != "seconds"}


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 8 MB, where this user may have one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount a disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("left", [100_000, 300_000, 400_000, 600_000])
def test_catalog_and_folders_on_one_full_disk(small_disk, monkeypatch, left):
    """However little is left, there is room for saying so, and what was committed is there."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0.001")
    home, catalog = life.open_home(small_disk)
    kept = {"execution.saveEvery": 10, "execution.keepAdapters": 1000, "execution.keepTrainingStates": 1000}
    settings = life.descriptor({f"{TRAINING}.maxSteps": 300} | kept)
    with catalog:
        start.start(catalog, home, settings)
        calm = parents.carry_out(catalog, home)
        run = start.start(catalog, home, settings)
        room = os.statvfs(small_disk)
        (small_disk / "others").write_bytes(b"x" * (room.f_bavail * room.f_frsize - left))
        assert life.finish(life.start_worker(home, step_seconds=0.001)) == 0
        run = catalog.run(run.run_id)
        assert (run.phase, run.failure_code, run.pause.checkpoint) == ("PAUSED", "DISK_FULL", None)
        (small_disk / "others").unlink()
        assert recover.recover(catalog, home) == ()
        assert verify.verify(catalog, home, run.run_id).mismatches == ()
        resume.resume(catalog, home, run.run_id)
        ended = parents.carry_out(catalog, home)
        assert ended.phase == "COMPLETED"
        assert killing.curves(catalog, ended) == killing.curves(catalog, calm)
