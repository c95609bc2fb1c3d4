"""One attempt at a run: what is on record, when, and how it ends."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from hashlib import sha256

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.protocol import convert
from akka_optimize.record import curves as record_curves
from akka_optimize.trainer import base_models, claims, recover, start
from akka_optimize.trainer import closing as record
from akka_optimize.trainer.engines import arithmetic
from akka_optimize.trainer.worker import attempt
from akka_optimize.trainer.worker.clocks import Clocks
from akka_optimize.trainer.worker.drain import Stop

TRAINING = "config.hyperparams.training"


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


class Session(arithmetic.ArithmeticSession):
    """A made-up session to which something happens at each update."""

    def __init__(self, job, happens):
        super().__init__(job, {})
        self.happens = happens

    def steps(self):
        """The usual records; before each, `happens`."""
        for step in super().steps():
            self.happens(step)
            yield step


@pytest.fixture
def meanwhile(monkeypatch):
    """Let something happen at each update: a function of the step, called before it is recorded."""

    class Engine(arithmetic.ArithmeticEngine):
        happens = staticmethod(lambda _step: None)

        def start(self, job):
            return Session(job, self.happens)

    def happens(what):
        Engine.happens = staticmethod(what)

    monkeypatch.setattr(attempt, "engine", lambda _name: Engine())
    return happens


def carry_out(trainer, settings=None, *, stop=None, clock=None):
    """Start a run, claim it and carry it out in this process; the run as it is afterwards, and its folder."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor(settings))
    return take(trainer, stop=stop, clock=clock)


def take(trainer, *, stop=None, clock=None):
    """Carry out the run that waits."""
    catalog, home = trainer
    run, lock = claims.take(catalog, home)
    with lock:
        clocks = Clocks(clock, clock) if clock else None
        attempt.Attempt(catalog, home, run, stop or Stop(), clocks=clocks).carry_out()
    return catalog.run(run.run_id), home.path / run.folder


def curves(trainer, run):
    """The run's columns, as (steps, values) lists."""
    columns = convert.metrics(trainer[0].metrics(run.run_id)).columns
    return {name: (column.steps.tolist(), column.values.tolist()) for name, column in columns.items()}


def table(folder):
    """The lines of the run's metrics.csv."""
    return list(csv.DictReader((folder / "metrics.csv").read_text().splitlines()))


def test_a_run_completes_with_every_column(trainer):
    """Every update has its record in the catalog, and the run says how far it came."""
    run, _ = carry_out(trainer)
    expected = list(arithmetic.ENGINE.start(replace(life.job(), plan=run.plan)).steps())
    assert (run.phase, run.observed_step, run.attempt, run.failure_code) == ("COMPLETED", 20, 1, None)
    found = curves(trainer, run)
    steps = list(range(1, 21))
    assert found["gradNorm"] == (steps, [step.grad_norm for step in expected])
    assert found["learningRate"] == (steps, [step.learning_rate for step in expected])
    assert found["clipped"] == (steps, [float(step.clipped) for step in expected])
    assert set(found) == set(record_curves.COLUMNS)
    assert run.loss == found["loss"][1][-1]


def test_equal_plans_repeat_bit_for_bit(trainer):
    """Two runs of one plan have the same curves, whatever their division and their saves."""
    first, _ = carry_out(trainer)
    second, _ = carry_out(trainer, {"execution.sequencesPerPass": 2})
    assert curves(trainer, first) == curves(trainer, second)
    assert first.config_hash == second.config_hash


@pytest.mark.parametrize(
    ("settings", "saves", "validations"),
    [
        pytest.param({}, [20], [20], id="at-the-end-only"),
        pytest.param({"execution.saveEvery": 8}, [8, 16, 20], [8, 16, 20], id="every-eight"),
        pytest.param({"execution.saveEvery": 10}, [10, 20], [10, 20], id="the-end-is-one-of-them"),
        pytest.param(
            {f"{TRAINING}.validationFrequencySteps": 6, "execution.saveEvery": 9},
            [9, 18, 20],
            [6, 9, 12, 18, 20],
            id="more-often-than-saves",
        ),
        pytest.param({f"{TRAINING}.validationShare": 0}, [20], [], id="nothing-held-out"),
    ],
)
def test_saves_and_validations_come_at_their_updates(trainer, settings, saves, validations):
    """Every save has its validation, validations may come more often, and the end has both."""
    run, folder = carry_out(trainer, settings)
    listed = trainer[0].snapshots(run.run_id).items
    assert sorted(snapshot.step for snapshot in listed) == saves
    assert sorted(int(place.name) for place in (folder / "snapshots").iterdir()) == saves
    assert curves(trainer, run).get("validationLoss", ([], []))[0] == validations
    assert run.saved_step == 20
    if validations:
        assert {s.step: s.validation_loss for s in listed}.items() <= dict(
            zip(*curves(trainer, run)["validationLoss"], strict=True)
        ).items()


def test_a_snapshot_is_what_its_manifest_says(trainer):
    """The manifest has the digest and size of each file, and the snapshot's id follows from manifest and run."""
    run, folder = carry_out(trainer)
    (snapshot,) = trainer[0].snapshots(run.run_id).items
    place = folder / "snapshots" / "20"
    manifest = json.loads((place / "manifest.json").read_bytes())
    for name, told in manifest["files"].items():
        content = (place / name).read_bytes()
        assert told == {"sha256": sha256(content).hexdigest(), "sizeBytes": len(content)}
    digest = sha256((place / "manifest.json").read_bytes()).hexdigest()
    assert snapshot.snapshot_id == sha256(f"{run.run_id}\n{digest}".encode()).hexdigest()
    assert {artifact.kind for artifact in snapshot.artifacts} == {"weights", "trainingState"}
    assert (manifest["step"], manifest["runId"], manifest["attempt"]) == (20, run.run_id, 1)


def test_the_environment_is_on_disk_before_the_first_update(trainer, meanwhile):
    """run.json, the catalog and the hyperparameters are written before anything is trained."""
    catalog, home = trainer
    seen = []

    def look(step):
        if step.step == 1:
            (run,) = catalog.active()
            told = json.loads((home.path / run.folder / "run.json").read_text())["environment"]
            seen.extend([told, run.environment, catalog.hparams(run.run_id), run.phase])

    meanwhile(look)
    run, _ = carry_out(trainer)
    told, environment, hparams, phase = seen
    assert told == environment
    assert (told["engine"], told["threads"], phase) == ("arithmetic", 1, "TRAINING")
    assert told["packages"]["numpy"]
    assert hparams["sha"][:12] == run.config_hash
    assert hparams["hyperparams.optimizer.learningRate"] == 1e-4


def test_updates_are_committed_once_a_second(trainer, meanwhile):
    """With an update every 0.4 s, what a reader sees is never more than three updates behind."""
    catalog, time, behind = trainer[0], [0.0], []

    def tick(step):
        time[0] += 0.4
        behind.append(step.step - 1 - catalog.active()[0].observed_step)

    meanwhile(tick)
    carry_out(trainer, clock=lambda: time[0])
    assert max(behind) == 2
    assert behind.count(0) > 4


def test_a_loss_that_is_not_finite_is_recorded_as_it_is(trainer, monkeypatch):
    """NaN and a spike are in the catalog, in the CSV, and among the summary's events, and the run completes."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "nan:5,spike:7")
    run, folder = carry_out(trainer)
    assert run.phase == "COMPLETED"
    assert math.isnan(curves(trainer, run)["loss"][1][4])
    rows = table(folder)
    assert rows[4]["loss"] == "NaN"
    summary = json.loads((folder / "summary.json").read_text())
    assert [(event["kind"], event.get("firstStep", event.get("step"))) for event in summary["events"]] == [
        ("nonFinite", 5),
        ("spike", 7),
    ]


def test_the_csv_holds_the_curves_digit_by_digit(trainer):
    """One line an update; every number reads back as the very same float."""
    run, folder = carry_out(trainer, {f"{TRAINING}.validationFrequencySteps": 6})
    rows = table(folder)
    assert [int(row["step"]) for row in rows] == list(range(1, 21))
    for name, (steps, values) in curves(trainer, run).items():
        there = {int(row["step"]): float(row[name]) for row in rows if row[name]}
        assert there == dict(zip(steps, values, strict=True))


def test_the_summary_names_the_best_snapshot(trainer):
    """The best by validation is the lowest, and the final metrics are those of the last update."""
    run, folder = carry_out(trainer, {"execution.saveEvery": 5})
    summary = json.loads((folder / "summary.json").read_text())
    best = min(trainer[0].snapshots(run.run_id).items, key=lambda snapshot: snapshot.validation_loss)
    assert summary["best"] == {
        "snapshotId": best.snapshot_id,
        "step": best.step,
        "validationLoss": best.validation_loss,
    }
    assert summary["final"]["loss"] == {"step": 20, "value": run.loss}
    assert (summary["phase"], summary["events"]) == ("COMPLETED", [])


def test_a_cancelled_run_keeps_what_it_recorded(trainer, meanwhile):
    """Cancelled in mid-run: the updates so far are kept, no snapshot is made, and the record is closed."""
    catalog = trainer[0]
    time = [0.0]

    def cancel(step):
        time[0] += 2
        if step.step == 5:
            catalog.request_cancel(catalog.active()[0].run_id)

    meanwhile(cancel)
    run, folder = carry_out(trainer, clock=lambda: time[0])
    assert (run.phase, run.observed_step, run.saved_step) == ("CANCELLED", 5, None)
    assert json.loads((folder / "summary.json").read_text())["phase"] == "CANCELLED"


def test_a_run_cancelled_before_its_first_update_loads_nothing(trainer, monkeypatch):
    """A cancellation that arrives between claim and start is heard before the engine is."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    run, lock = claims.take(catalog, home)
    catalog.request_cancel(run.run_id)
    monkeypatch.setattr(attempt, "engine", lambda _name: pytest.fail("loaded"))
    with lock:
        attempt.Attempt(catalog, home, run, Stop()).carry_out()
    assert catalog.run(run.run_id).phase == "CANCELLED"


def test_a_stop_is_heard_at_the_next_update(trainer, meanwhile):
    """A worker that is told to stop does not wait for the second to pass."""
    stop = Stop()

    def tell(step):
        stop.asked = step.step >= 5

    meanwhile(tell)
    run, _ = carry_out(trainer, stop=stop)
    assert (run.phase, run.failure_code, run.observed_step) == ("FAILED", "WORKER_STOPPED", 5)


def test_an_end_that_was_reached_is_an_end(trainer, meanwhile):
    """Asked to stop or cancelled in its last update, a run completes: it has nothing left to do."""
    catalog, stop = trainer[0], Stop()

    def both(step):
        if step.step == 20:
            stop.asked = True
            catalog.request_cancel(catalog.active()[0].run_id)

    meanwhile(both)
    assert carry_out(trainer, stop=stop)[0].phase == "COMPLETED"


def test_an_engine_that_ends_early_has_failed(trainer, monkeypatch):
    """Fewer updates than the plan's horizon are no completed run."""

    class Short(arithmetic.ArithmeticSession):
        def steps(self):
            steps = super().steps()
            yield from (next(steps) for _ in range(3))

    class Engine(arithmetic.ArithmeticEngine):
        def start(self, job):
            return Short(job, {})

    monkeypatch.setattr(attempt, "engine", lambda _name: Engine())
    run, _ = carry_out(trainer)
    assert (run.phase, run.observed_step) == ("FAILED", 3)
    assert "after update 3 of 20" in run.failure_reason


def test_another_base_model_than_the_plans_is_refused(trainer, monkeypatch):
    """When the base model was exchanged since the run was submitted, the run fails and says so."""
    catalog, home = trainer
    start.start(catalog, home, life.descriptor())
    other = base_models.find("akka/byte-decoder-1m")
    monkeypatch.setattr(base_models, "find", lambda _ref: other)
    run, _ = take(trainer)
    assert run.phase == "FAILED"
    assert "the run's plan names" in run.failure_reason


def test_a_folder_that_is_gone_fails_the_run(trainer):
    """A run whose folder somebody removed fails with a reason; the worker goes on."""
    catalog, home = trainer
    run = start.start(catalog, home, life.descriptor())
    (home.path / run.folder).rename(home.path / "elsewhere")
    after, _ = take(trainer)
    assert (after.phase, after.failure_code) == ("FAILED", "RECORD_LOST")
    assert after.failure_reason == f"the run's folder {home.path / run.folder} is gone"
    assert not (home.path / run.folder).exists()


@pytest.mark.parametrize(
    ("at", "part"),
    [
        pytest.param(3, "", id="before-the-last-save"),
        pytest.param(3, "snapshots", id="the-snapshots-alone"),
        pytest.param(20, "", id="at-the-last-update"),
    ],
)
def test_a_folder_that_somebody_removes_meanwhile_fails_the_run(trainer, meanwhile, at, part):
    """The run is FAILED with the folder that is missing, and nothing of it is put there again."""
    home, gone = trainer[1], []

    def remove(step):
        if step.step == at:
            (folder,) = home.runs.iterdir()
            gone.append(folder / part)
            gone[0].rename(home.path / "elsewhere")

    meanwhile(remove)
    run, _ = carry_out(trainer)
    assert (run.phase, run.failure_code, run.resumable) == ("FAILED", "RECORD_LOST", False)
    assert run.failure_reason == f"the run's folder {gone[0]} is gone"
    assert not gone[0].exists()


@pytest.mark.parametrize("place", ["close", "merge_metrics"])
def test_a_record_that_could_not_be_closed_is_closed_later(trainer, monkeypatch, place):
    """Once there is room, whoever comes next writes the last files, with the phase that the run really has."""
    catalog, home = trainer

    def full(*args, **kwargs):
        raise errors.Exhausted("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(*((record, "close") if place == "close" else (catalog, "merge_metrics")), full)
        run, folder = carry_out(trainer)
    assert (run.phase, run.failure_code) == ("PAUSED", "DISK_FULL")
    assert recover.recover(catalog, home) == ()
    assert json.loads((folder / "summary.json").read_text())["phase"] == "PAUSED"
    assert (folder / "checksums.txt").exists()
    assert list(home.unclosed.iterdir()) == []


def test_a_record_that_is_closed_is_left_alone(trainer):
    """No mark stays, and opening the home again writes nothing."""
    run, folder = carry_out(trainer)
    before = (folder / "checksums.txt").stat().st_mtime_ns
    assert (run.phase, list(trainer[1].unclosed.iterdir())) == ("COMPLETED", [])
    recover.recover(*trainer)
    assert (folder / "checksums.txt").stat().st_mtime_ns == before


def test_the_first_failure_is_the_reason(trainer, monkeypatch, meanwhile):
    """When closing the record fails too, the run still says why it failed in the first place."""

    def full(*args, **kwargs):
        raise errors.Exhausted("the disk is full")

    def fail(step):
        raise ZeroDivisionError("first")

    meanwhile(fail)
    monkeypatch.setattr(record, "close", full)
    run, _ = carry_out(trainer)
    assert (run.phase, run.failure_reason) == ("FAILED", "ZeroDivisionError: first")


def test_a_run_whose_record_cannot_be_closed_is_not_complete(trainer, monkeypatch):
    """COMPLETED means that the record is whole."""

    def full(*args, **kwargs):
        raise errors.Exhausted("the disk is full")

    monkeypatch.setattr(record, "close", full)
    run, _ = carry_out(trainer)
    assert (run.phase, run.failure_code, run.failure_reason) == ("PAUSED", "DISK_FULL", "the disk is full")
    assert (run.pause.checkpoint, run.pause.reason, run.pause.saved_step) == (None, "the disk is full", 20)
