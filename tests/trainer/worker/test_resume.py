"""Attempts after the first: what they go on from, and what a pause leaves."""

from __future__ import annotations

import json
from concurrent.futures import wait
from itertools import count

import pytest
from support import killing, life

from akka_optimize import errors
from akka_optimize.trainer import artifacts, claims, pause, resume, retention, start, verify
from akka_optimize.trainer.engines import ProcessLost, arithmetic
from akka_optimize.trainer.worker import attempt
from akka_optimize.trainer.worker.clocks import Clocks
from akka_optimize.trainer.worker.drain import Stop
from akka_optimize.trainer.worker.saver import Saver

TRAINING = "config.hyperparams.training"
SETTINGS = {f"{TRAINING}.validationFrequencySteps": 3, "execution.saveEvery": 6}


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture(autouse=True)
def each_save_is_waited_for(monkeypatch):
    """A save is through before the next update, so that it is known which update is the last one saved."""
    begin = Saver.start

    def start(saver, step, write):
        begin(saver, step, write)
        wait([saver._running])

    monkeypatch.setattr(Saver, "start", start)


@pytest.fixture
def meanwhile(monkeypatch):
    """Let something happen after each update: a function of the step, called before it is recorded."""
    happens = []
    steps = arithmetic.ArithmeticSession.steps

    def eventful(session):
        for step in steps(session):
            for what in happens:
                what(step)
            yield step

    monkeypatch.setattr(arithmetic.ArithmeticSession, "steps", eventful)
    return happens


def take(trainer, clocks=None):
    """Carry out the run that waits, with a clock that has a second go by at each look, so that every step is heard."""
    catalog, home = trainer
    run, lock = claims.take(catalog, home)
    ticks = count()
    with lock:
        attempt.Attempt(catalog, home, run, Stop(), clocks=clocks or Clocks(lambda: next(ticks), lambda: 0)).carry_out()
    return catalog.run(run.run_id)


def steady():
    """Clocks that agree, a second apart at each look."""
    ticks = count()
    now = [0.0]

    def tick():
        now[0] = float(next(ticks))
        return now[0]

    return Clocks(tick, lambda: now[0])


def begin(trainer, settings=None):
    """Queue a run of 20 updates and carry it out."""
    start.start(*trainer, life.descriptor(SETTINGS | (settings or {})))
    return take(trainer, steady())


def go_on(trainer, run):
    """Resume a run and carry it out."""
    resume.resume(*trainer, run.run_id)
    return take(trainer, steady())


def paused_at(trainer, meanwhile, step, checkpoint):
    """A run that somebody pauses while it makes the update `step`."""
    catalog, home = trainer
    meanwhile.append(
        lambda done: done.step == step and pause.pause(catalog, home, catalog.active()[0].run_id, checkpoint)
    )
    run = begin(trainer)
    meanwhile.clear()
    return run


@pytest.mark.parametrize(
    ("checkpoint", "step"), [("save", 1), ("save", 6), ("save", 8), ("save", 19), ("latest", 7), ("latest", 17)]
)
def test_a_paused_run_goes_on_bit_for_bit(trainer, meanwhile, capsys, step, checkpoint):
    """Paused after any update, with and without a save of its own, resumed, it ends in the undisturbed curves."""
    calm = begin(trainer)
    run = paused_at(trainer, meanwhile, step, checkpoint)
    at = step if checkpoint == "save" else step // 6 * 6
    assert (run.phase, run.observed_step, run.pause.saved_step, run.failure_code) == ("PAUSED", step, at, None)
    assert (run.pause.checkpoint, run.pause.reason, run.pause.resources_released) == (checkpoint, None, True)
    assert verify.verify(*trainer, run.run_id).mismatches == ()
    assert not (trainer[1].path / run.folder / ".tmp-room").exists()
    ended = go_on(trainer, run)
    assert (ended.phase, ended.attempt, ended.replaced_steps) == ("COMPLETED", 2, step - at)
    assert killing.curves(trainer[0], ended) == killing.curves(trainer[0], calm)
    assert verify.verify(*trainer, run.run_id).mismatches == ()
    assert f"going on after update {at}; {step - at} recorded updates" in capsys.readouterr().err


def test_a_save_for_a_pause_has_its_validation_in_the_manifest_alone(trainer, meanwhile):
    """The curve of a run that goes on is that of one that never paused."""
    run = paused_at(trainer, meanwhile, 8, "save")
    (snapshot,) = [each for each in trainer[0].snapshots(run.run_id).items if each.step == 8]
    place = artifacts.place(trainer[1].path / run.folder, 8)
    assert json.loads((place / artifacts.MANIFEST).read_bytes())["validationLoss"] == snapshot.validation_loss
    assert snapshot.validation_loss is not None
    assert killing.curves(trainer[0], run)["validationLoss"][0] == [3, 6]


def test_cancelling_wins_over_pausing(trainer, meanwhile):
    """Asked for both in one update, the run is CANCELLED and saves nothing more."""
    catalog, home = trainer

    def both(step):
        if step.step == 8:
            pause.pause(catalog, home, catalog.active()[0].run_id, "save")
            catalog.request_cancel(catalog.active()[0].run_id)

    meanwhile.append(both)
    run = begin(trainer)
    assert (run.phase, run.pause, run.saved_step) == ("CANCELLED", None, 6)


def test_a_cancellation_while_the_record_is_closed_is_heard(trainer, meanwhile, monkeypatch):
    """The run is about to be PAUSED when somebody cancels it: it ends CANCELLED, in catalog and folder."""
    catalog, home = trainer
    merge = catalog.merge_metrics

    def cancel(run_id):
        merge(run_id)
        if catalog.run(run_id).phase == "TRAINING":
            catalog.request_cancel(run_id)

    monkeypatch.setattr(catalog, "merge_metrics", cancel)
    run = paused_at(trainer, meanwhile, 8, "latest")
    summary = json.loads((home.path / run.folder / "summary.json").read_text())
    assert (run.phase, summary["phase"]) == ("CANCELLED", "CANCELLED")
    assert summary["events"] == list(run.events)


def test_the_last_update_is_an_end_and_no_pause(trainer, meanwhile):
    """Asked to pause in its last update, a run completes."""
    assert paused_at(trainer, meanwhile, 20, "save").phase == "COMPLETED"


def test_a_save_that_fails_under_a_pause_is_said(trainer, meanwhile, monkeypatch):
    """The run is paused all the same, and would go on from what was saved before."""
    save = arithmetic.ArithmeticHeld.save_weights

    def fail(held, path):
        if held.step == 8:
            raise OSError(5, "Input/output error")
        save(held, path)

    monkeypatch.setattr(arithmetic.ArithmeticHeld, "save_weights", fail)
    run = paused_at(trainer, meanwhile, 8, "save")
    assert (run.phase, run.failure_code, run.pause.checkpoint, run.pause.saved_step) == ("PAUSED", None, "save", 6)
    assert run.pause.reason == "nothing was saved after update 8: OSError: [Errno 5] Input/output error"


@pytest.mark.parametrize("damage", ["flipped", "missing", "manifest"])
def test_a_state_that_is_not_what_was_saved_is_refused(trainer, meanwhile, damage):
    """The run fails with the file's name, and is not tried again."""
    catalog, home = trainer
    run = paused_at(trainer, meanwhile, 8, "save")
    catalog.requeue(run.run_id)
    place = artifacts.place(home.path / run.folder, 8)
    path = place / (artifacts.MANIFEST if damage == "manifest" else artifacts.TRAINING_STATE)
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    after = take(trainer)
    assert (after.phase, after.failure_code, after.resumable) == ("FAILED", "STATE_LOST", False)
    assert str(path) in after.failure_reason


def test_without_a_save_a_run_begins_anew(trainer, monkeypatch):
    """A run that failed before its first save goes through all of its updates again, and says how many."""
    calm = begin(trainer)
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "memory:5")
    run = begin(trainer)
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    ended = go_on(trainer, run)
    assert (ended.phase, ended.replaced_steps) == ("COMPLETED", 4)
    assert killing.curves(trainer[0], ended) == killing.curves(trainer[0], calm)


def test_a_run_that_ended_after_its_last_save_completes(trainer, monkeypatch):
    """Killed between its last save and its end, it has nothing left to train."""
    catalog, home = trainer
    calm = begin(trainer)
    with monkeypatch.context() as patch:
        patch.setattr(
            attempt.record, "close", lambda *_args, **_kwargs: (_ for _ in ()).throw(errors.Exhausted("full"))
        )
        run = begin(trainer)
    assert (run.phase, run.failure_code, run.pause.saved_step) == ("PAUSED", "DISK_FULL", 20)
    ended = go_on(trainer, run)
    assert (ended.phase, ended.replaced_steps) == ("COMPLETED", 0)
    assert killing.curves(catalog, ended) == killing.curves(catalog, calm)
    assert verify.verify(catalog, home, run.run_id).mismatches == ()


def test_a_full_disk_pauses_and_the_run_goes_on(trainer, meanwhile, monkeypatch):
    """A save in the middle finds no room: nothing that was committed is lost, and after room is made all is as ever."""
    catalog, home = trainer
    calm = begin(trainer)
    save = arithmetic.ArithmeticHeld.save_training_state

    def full(held, path):
        if held.step == 12:
            raise OSError(28, "No space left on device")
        save(held, path)

    with monkeypatch.context() as patch:
        patch.setattr(arithmetic.ArithmeticHeld, "save_training_state", full)
        run = begin(trainer)
    assert (run.phase, run.failure_code) == ("PAUSED", "DISK_FULL")
    assert (
        run.pause.reason == run.failure_reason == "there is no room for what the run records: no space left on device"
    )
    assert (run.pause.checkpoint, run.pause.saved_step) == (None, 6)
    assert killing.curves(catalog, run)["loss"][0] == list(range(1, run.observed_step + 1))
    assert verify.verify(catalog, home, run.run_id).mismatches == ()
    ended = go_on(trainer, run)
    assert ended.phase == "COMPLETED"
    assert killing.curves(catalog, ended) == killing.curves(catalog, calm)


def test_a_process_that_is_lost_fails_the_run_which_may_go_on(trainer, meanwhile):
    """One of several processes ended: the run fails as one, and another attempt completes it."""
    calm = begin(trainer)

    def lose(step):
        if step.step == 9:
            raise ProcessLost("process 1 of 2 has ended after update 9")

    meanwhile.append(lose)
    run = begin(trainer)
    meanwhile.clear()
    assert (run.phase, run.failure_code, run.resumable) == ("FAILED", "PROCESS_LOST", True)
    assert killing.curves(trainer[0], go_on(trainer, run)) == killing.curves(trainer[0], calm)


def test_a_clock_that_jumps_is_an_event(trainer, meanwhile):
    """More than five seconds between the time of day and the time that went by, in either direction."""
    now, set_by = [0.0], [0.0]

    def tick(step):
        now[0] += 1
        set_by[0] += {5: 3600.0, 9: -60.0, 12: 4.0}.get(step.step, 0.0)

    meanwhile.append(tick)
    start.start(*trainer, life.descriptor(SETTINGS))
    run = take(trainer, Clocks(lambda: now[0], lambda: now[0] + set_by[0]))
    jumps = [(event["kind"], event["step"], event["seconds"], event["attempt"]) for event in run.events]
    assert jumps == [("clock", 5, 3600.0, 1), ("clock", 9, -60.0, 1)]


def test_the_best_snapshot_stays_beside_the_last_with_its_training_state(trainer, meanwhile, monkeypatch):
    """Through pauses and attempts, of two snapshots everything is left: the best by validation, and the newest."""
    catalog, home = trainer
    losses = iter([3.0, 1.0, 2.0, 2.5, 2.6, 2.7])
    monkeypatch.setattr(arithmetic.ArithmeticSession, "validate", lambda _session: next(losses))
    few = {f"{TRAINING}.validationFrequencySteps": 0, "execution.saveEvery": 4, "execution.keepAdapters": 1}
    meanwhile.append(lambda done: done.step == 14 and pause.pause(catalog, home, catalog.active()[0].run_id, "save"))
    run = begin(trainer, few)
    meanwhile.clear()
    assert (run.phase, run.best_step) == ("PAUSED", 8)
    run = go_on(trainer, run)
    kept = {
        snapshot.step: {artifact.kind for artifact in snapshot.artifacts if not artifact.swept}
        for snapshot in catalog.unswept(run.run_id)
    }
    assert kept == {step: set(retention.KEPT_BY) for step in (8, 20)}
    assert (run.best_step, run.best_validation_loss) == (8, 1.0)
    assert catalog.restore_point(run.run_id).step == 20


def test_what_the_engine_was_asked_for_is_on_record(trainer):
    """Before the first update in the catalog; in the end in the summary, with what the engine used."""
    catalog, home = trainer
    run = begin(trainer)
    told = catalog.engine_config(run.run_id)
    assert told.requested["config"]["lora_rank"] == told.resolved["config"]["lora_rank"] == 8
    assert catalog.engine_runtime(run.run_id).attempt == 1
    summary = json.loads((home.path / run.folder / "summary.json").read_text())
    assert summary["engine"] == {"requested": told.requested, "resolved": told.resolved}
    seeds = json.loads((home.path / run.folder / "run.json").read_text())["seeds"]
    assert [each["process"] for each in seeds["processes"]] == [0]
