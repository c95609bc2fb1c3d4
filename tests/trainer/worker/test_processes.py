"""Real worker processes: killed, stopped, raced, and fed."""

from __future__ import annotations

import signal
import subprocess

import pytest
from support import life

from akka_optimize.trainer import launch, recover, start

SLOW = 0.02  # seconds in an update, so that something can happen meanwhile


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def workers(trainer):
    """Start workers in the home; those that are left at the end are killed."""
    running = []

    def begin(**knobs):
        running.append(life.start_worker(trainer[1], **knobs))
        return running[-1]

    yield begin
    for worker in running:
        worker.kill()
        worker.wait()


def queue(trainer, *seeds, steps=20, **settings):
    """Runs with these seeds, in order."""
    changes = {"config.hyperparams.training.maxSteps": steps} | settings
    return [start.start(*trainer, life.descriptor({"config.seed": seed} | changes)) for seed in seeds]


def phases(trainer, runs):
    """Where the runs are."""
    return [trainer[0].run(run.run_id).phase for run in runs]


def in_mid_run(trainer, run):
    """Has the run recorded an update?"""
    return trainer[0].run(run.run_id).observed_step > 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT], ids=lambda number: number.name)
def test_a_worker_that_dies_by_a_signal_leaves_a_failed_run(trainer, workers, number):
    """Whatever the signal, the run is FAILED at the next look, with a reason, and what it recorded is kept."""
    (run,) = queue(trainer, 0, steps=400, **{"execution.saveEvery": 10})
    worker = workers(step_seconds=SLOW)
    life.until(lambda: in_mid_run(trainer, run), "the first update")
    worker.send_signal(number)
    life.finish(worker)
    recover.recover(*trainer)
    after = trainer[0].run(run.run_id)
    assert (after.phase, after.failure_code, after.resumable) == ("FAILED", "WORKER_LOST", True)
    assert f"update {after.observed_step} of 400" in after.failure_reason
    assert after.observed_step >= 10
    saves = trainer[0].snapshots(run.run_id).total  # the last one may not have come as far as the catalog
    assert after.observed_step // 10 - saves in (0, 1)


def test_a_fault_ends_its_run_and_no_other(trainer, workers):
    """Of three runs in the queue the second raises: it is FAILED with its traceback in its log, the others complete."""
    runs = queue(trainer, 0, 1, 2)
    assert life.finish(workers(fault="raise:5@1")) == 0
    assert phases(trainer, runs) == ["COMPLETED", "FAILED", "COMPLETED"]
    failed = trainer[0].run(runs[1].run_id)
    assert failed.failure_code == "ENGINE_ERROR"
    assert failed.failure_reason == "RuntimeError: made-up fault at update 5"
    assert failed.observed_step == 4
    logs = [life.log_of(trainer[1], run) for run in runs]
    assert ["Traceback" in log for log in logs] == [False, True, False]
    assert (trainer[1].path / "worker.log").read_text() == ""


@pytest.mark.parametrize(
    ("kind", "phase", "code"),
    [
        pytest.param("memory", "FAILED", "OUT_OF_MEMORY", id="memory"),
        pytest.param("disk", "PAUSED", "DISK_FULL", id="room"),
    ],
)
def test_a_lack_of_room_is_named(trainer, workers, kind, phase, code):
    """Memory and disk have codes of their own, and the run may be taken up again; for a disk it stands still."""
    (run,) = queue(trainer, 0)
    life.finish(workers(fault=f"{kind}:5"))
    after = trainer[0].run(run.run_id)
    assert (after.phase, after.failure_code, after.resumable) == (phase, code, True)


def test_of_two_workers_one_works(trainer, workers):
    """Two workers started at once carry out every run once."""
    runs = queue(trainer, *range(4))
    assert [life.finish(worker) for worker in (workers(), workers())] == [0, 0]
    life.until(lambda: set(phases(trainer, runs)) == {"COMPLETED"}, "the runs to end")
    assert [trainer[0].run(run.run_id).attempt for run in runs] == [1] * 4
    assert len({life.log_of(trainer[1], run).split("in process ")[1].split()[0] for run in runs}) == 1


def test_a_waiting_run_is_cancelled_at_once(trainer, workers):
    """A run that is cancelled in the queue never starts, and the one behind it does."""
    runs = queue(trainer, 0, 1)
    trainer[0].request_cancel(runs[0].run_id)
    life.finish(workers())
    assert phases(trainer, runs) == ["CANCELLED", "COMPLETED"]
    assert trainer[0].run(runs[0].run_id).attempt == 0


def test_a_run_in_training_is_cancelled_between_two_updates(trainer, workers):
    """The worker lets go within a second or so, keeps the curve so far, and goes on with the next run."""
    runs = queue(trainer, 0, steps=5000) + queue(trainer, 1)
    worker = workers(step_seconds=SLOW)
    life.until(lambda: in_mid_run(trainer, runs[0]), "the first update")
    trainer[0].request_cancel(runs[0].run_id)
    life.finish(worker)
    assert phases(trainer, runs) == ["CANCELLED", "COMPLETED"]
    after = trainer[0].run(runs[0].run_id)
    assert 0 < after.observed_step < 5000
    assert after.failure_code is None


def test_a_worker_that_is_told_to_stop_says_so(trainer, workers):
    """SIGTERM ends the run at hand as FAILED and resumable, and leaves the queue to the next worker."""
    runs = queue(trainer, 0, steps=5000) + queue(trainer, 1)
    worker = workers(step_seconds=SLOW)
    life.until(lambda: in_mid_run(trainer, runs[0]), "the first update")
    worker.terminate()
    assert life.finish(worker) == 0
    assert phases(trainer, runs) == ["FAILED", "QUEUED"]
    after = trainer[0].run(runs[0].run_id)
    assert (after.failure_code, after.resumable) == ("WORKER_STOPPED", True)
    assert (trainer[1].path / after.folder / "checksums.txt").exists()
    assert life.finish(workers()) == 0
    assert phases(trainer, runs) == ["FAILED", "COMPLETED"]


def test_no_submission_is_lost_while_a_worker_leaves(trainer, monkeypatch):
    """Each run is submitted as soon as the one before has ended, just when the worker is on its way out."""
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0")
    for seed in range(4):
        (run,) = queue(trainer, seed, steps=1)
        launch.ensure_worker(trainer[1])
        life.until(lambda run=run: phases(trainer, [run]) == ["COMPLETED"], "the run to end")


def test_a_catalog_that_cannot_be_opened_is_an_error_of_the_worker(trainer, workers, monkeypatch):
    """A worker that cannot begin ends with an error in the home's log, and holds nothing."""
    (run,) = queue(trainer, 0)
    (trainer[1].path / "version").write_text("999")
    assert life.finish(workers()) != 0
    assert "newer" in (trainer[1].path / "worker.log").read_text()
    assert phases(trainer, [run]) == ["QUEUED"]


def test_checksums_are_what_sha256sum_says(trainer, workers):
    """The coreutils tool finds every file of a finished run as listed; the list leaves none out."""
    (run,) = queue(trainer, 0, **{"execution.saveEvery": 10})
    life.finish(workers())
    folder = trainer[1].path / run.folder
    lines = (folder / "checksums.txt").read_text().splitlines()
    check = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet"],
        input="".join(f"{line}\n" for line in lines[:-1]),
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
    )
    assert (check.returncode, check.stdout, check.stderr) == (0, "", "")
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {line.split("  ", 1)[1] for line in lines} == there
