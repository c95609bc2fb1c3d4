"""Worker and trainer killed at random moments: nothing is torn, and the curve is that of a run nobody disturbed."""

from __future__ import annotations

import json
import random

import pytest
from support import decoding, killing, life, parents

from akka_optimize.trainer import recover, resume, start, verify
from akka_optimize.trainer.engines import arithmetic

TRAINING = "config.hyperparams.training"
LONGEST = 0.25  # seconds before a kill; an attempt is in training after a tenth of a second or so


def settings(steps, **other):
    """A validation every three updates, and a save with every second of them."""
    chosen = {f"{TRAINING}.maxSteps": steps, f"{TRAINING}.validationFrequencySteps": 3, "execution.saveEvery": 6}
    return life.descriptor(chosen | other)


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0.004")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def nursery(trainer):
    """Where processes come from."""
    with killing.Nursery(trainer[1]) as nursery:
        yield nursery


def undisturbed(trainer, monkeypatch, steps):
    """The curves of a run that nobody kills, and that does not sleep."""
    start.start(*trainer, settings(steps, **{"execution.saveEvery": steps}))
    with monkeypatch.context() as patch:
        patch.setattr(arithmetic.time, "sleep", lambda _seconds: None)
        return killing.curves(trainer[0], parents.carry_out(*trainer))


def check_restarts(trainer, run):
    """The run's summary tells of each restart, of each loss before it, and of how much was trained again."""
    summary = json.loads((trainer[1].path / run.folder / "summary.json").read_text())
    resumed = [event for event in summary["events"] if event["kind"] == "resumed"]
    assert [event["attempt"] for event in resumed] == list(range(2, run.attempt + 1))
    assert sum(event["replacedSteps"] for event in resumed) == summary["replacedSteps"] == run.replaced_steps
    lost = [event for event in summary["events"] if event["kind"] == "ended"]
    assert [(event["attempt"], event["code"]) for event in lost] == [
        (attempt, "WORKER_LOST") for attempt in range(1, run.attempt)
    ]


def test_a_run_that_is_killed_twenty_times(trainer, nursery, monkeypatch):
    """It ends in the curves of one that is left alone, validations included, and its record tells of every restart."""
    calm = undisturbed(trainer, monkeypatch, 600)
    killer = killing.Killer(*trainer, nursery, random.Random(20))
    run = killer.carry_out(start.start(*trainer, settings(600)), 20, LONGEST)
    assert killer.kills == 20
    assert killing.curves(trainer[0], run) == calm
    assert run.attempt > 10
    assert run.replaced_steps > 0
    check_restarts(trainer, run)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_runs_that_are_killed_two_hundred_times(trainer, nursery, monkeypatch, seed):
    """As above, over runs of other lengths, other pauses between kills, and submissions that are killed, too."""
    draw = random.Random(seed)
    killer = killing.Killer(*trainer, nursery, draw)
    while killer.kills < 30:
        steps = draw.randint(50, 400)
        calm = undisturbed(trainer, monkeypatch, steps)
        run = killer.submit(settings(steps))
        run = killer.carry_out(run, 30, draw.uniform(0.05, 0.5))
        assert killing.curves(trainer[0], run) == calm
        check_restarts(trainer, run)


@pytest.mark.slow
def test_what_recovers_is_killed(trainer, nursery):
    """Whoever puts a lost run on record may be killed at that, any number of times."""
    draw = random.Random(7)
    for _ in range(10):
        run = start.start(*trainer, settings(600))
        assert nursery.act("work", seconds=LONGEST) == killing.KILLED
        for _ in range(5):
            nursery.act("recover", seconds=draw.uniform(0, 0.08))
        recover.recover(*trainer)
        found = verify.verify(*trainer, run.run_id)
        assert (trainer[0].run(run.run_id).phase, found.mismatches) == ("FAILED", ())


@pytest.mark.slow
def test_a_run_of_the_built_in_engine_that_is_killed(trainer):
    """With dropout and two passes an update, killed three times: the curves of one that is left alone."""
    catalog, home = trainer
    real = {
        "baseModel": decoding.MODEL,
        "config.hyperparams.lora.dropout": 0.1,
        "execution.sequencesPerPass": 4,
        "execution.saveEvery": 2,
    }
    start.start(*trainer, settings(24, **real))
    calm = parents.carry_out(*trainer)
    run = start.start(*trainer, settings(24, **real))
    for saved in (4, 8, 14):
        worker = life.start_worker(home)
        life.until(lambda saved=saved: (catalog.run(run.run_id).saved_step or 0) >= saved, "a save")
        worker.kill()
        worker.wait()
        recover.recover(*trainer)
        assert verify.verify(*trainer, run.run_id).mismatches == ()
        resume.resume(*trainer, run.run_id)
    assert life.finish(life.start_worker(home)) == 0
    run = catalog.run(run.run_id)
    left, right = killing.curves(catalog, run), killing.curves(catalog, calm)
    assert (run.phase, left | {"seconds": None}) == ("COMPLETED", right | {"seconds": None})
    check_restarts(trainer, run)
