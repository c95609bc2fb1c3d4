"""`akka-trainer work`: workers in the foreground."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from support import life

from akka_optimize.trainer import slots, start

PROGRAM = [sys.executable, "-c", "from akka_optimize.trainer.main import main; main()"]


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows."""
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0.01")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def program(trainer):
    """Start `akka-trainer work` with further arguments; it is ended with the test."""
    running = []

    def begin(*argv):
        command = [*PROGRAM, "work", "--home", str(trainer[1].path), *argv]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        running.append(subprocess.Popen(command, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, **streams))
        return running[-1]

    yield begin
    for process in running:
        if process.poll() is None:
            process.terminate()
            process.terminate()
        process.communicate(timeout=life.PATIENCE_SECONDS)


def ended(process):
    """Its exit code, and what it printed."""
    out, err = process.communicate(timeout=life.PATIENCE_SECONDS)
    return process.returncode, out, err


def queue(trainer, *seeds, steps=20):
    """Runs with these seeds, in order."""
    settings = {"config.hyperparams.training.maxSteps": steps}
    return [start.start(*trainer, life.descriptor(settings | {"config.seed": seed})) for seed in seeds]


def test_it_ends_when_the_queue_is_empty(trainer, program):
    """Every run is carried out, by two workers, and the number is remembered."""
    catalog, home = trainer
    runs = queue(trainer, *range(4))
    code, out, err = ended(program("--workers", "2"))
    assert (code, out) == (0, "")
    assert "queued runs: 4; workers started: 2" in err
    assert [catalog.run(run.run_id).phase for run in runs] == ["COMPLETED"] * 4
    assert slots.count(home) == 2
    assert ended(program())[0] == 0
    assert slots.count(home) == 2


def test_other_workers_keep_their_places(trainer, program):
    """It starts workers in free places alone, and says how many are not its own."""
    catalog, home = trainer
    (run,) = queue(trainer, 0)
    with slots.take(home):
        code, _, err = ended(program())
    assert code == 0
    assert "workers started: 0; other workers have 1" in err
    assert catalog.run(run.run_id).phase == "QUEUED"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_told_to_stop_its_workers_stop(trainer, program, number):
    """The run in training is FAILED and resumable, the other goes on waiting, and the exit code is 130."""
    catalog, _ = trainer
    runs = queue(trainer, 0, 1, steps=5000)
    process = program()
    life.until(lambda: catalog.run(runs[0].run_id).observed_step > 0, "the first update")
    process.send_signal(number)
    code, _, err = ended(process)
    assert code == 130
    assert "told to stop" in err
    assert "Traceback" not in err
    after = [catalog.run(run.run_id) for run in runs]
    assert [(run.phase, run.failure_code) for run in after] == [("FAILED", "WORKER_STOPPED"), ("QUEUED", None)]


def test_a_worker_that_dies_is_told(trainer, program):
    """The exit code is 1, and the next one to come finds the run lost."""
    catalog, home = trainer
    (run,) = queue(trainer, 0, steps=5000)
    process = program()
    life.until(lambda: catalog.run(run.run_id).observed_step > 0, "the first update")
    pid = int(life.log_of(home, run).split("in process ")[1].split()[0])
    os.kill(pid, signal.SIGKILL)
    code, _, err = ended(process)
    assert (code, "1 of 1 workers ended with an error" in err) == (1, True)
    assert "WORKER_LOST" not in err
    assert f"run {run.run_id} is FAILED" in ended(program())[2]


@pytest.mark.parametrize("workers", ["0", "65", "-1", "two", "1.5"])
def test_a_number_that_no_home_has_is_refused(trainer, program, workers):
    """One sentence and exit code 2; nothing is remembered."""
    code, _, err = ended(program("--workers", workers))
    assert (code, "Traceback" in err) == (2, False)
    assert slots.count(trainer[1]) == 1


def test_a_folder_that_is_no_home_is_refused(trainer, program):
    """What is wrong is said in one sentence, with exit code 1."""
    (trainer[1].path / "version").write_text("999")
    code, _, err = ended(program())
    assert code == 1
    assert err.startswith("Error: ")
    assert "Traceback" not in err
