"""Several workers at one queue."""

from __future__ import annotations

import pytest
from support import life

from akka_optimize.trainer import launch, slots, start
from akka_optimize.trainer.worker import drain


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def queue(trainer, *seeds, steps=20):
    """Runs with these seeds, in order."""
    settings = {"config.hyperparams.training.maxSteps": steps}
    return [start.start(*trainer, life.descriptor(settings | {"config.seed": seed})) for seed in seeds]


def all_left(home):
    """Is every place free?"""
    locks = [slots.take(home) for _ in range(slots.count(home))]
    for lock in locks:
        if lock is not None:
            lock.release()
    return None not in locks


def test_as_many_run_as_the_setting_says(trainer, monkeypatch):
    """Of five runs three are trained at once, taken in order, each by one worker; the one that fails stops nobody."""
    catalog, home = trainer
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0.05")
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "raise:5@1")
    slots.set_count(home, 3)
    runs = queue(trainer, *range(5))
    launch.ensure_worker(home)
    assert slots.take(home) is None
    life.until(lambda: len(catalog.active()) == 3, "three runs at once")
    launch.ensure_worker(home)
    life.until(lambda: not catalog.runs(phase="open").total, "the runs to end")
    life.until(lambda: all_left(home), "the workers to leave")
    after = [catalog.run(run.run_id) for run in runs]
    assert [run.phase for run in after] == ["COMPLETED", "FAILED", *["COMPLETED"] * 3]
    assert [run.attempt for run in after] == [1] * 5
    assert sorted(after, key=lambda run: run.started_at) == after
    assert len({life.log_of(home, run).split("in process ")[1].split()[0] for run in after}) == 3


def test_no_more_workers_than_runs(trainer, monkeypatch):
    """One run in the queue starts one worker, however many there may be."""
    home = trainer[1]
    slots.set_count(home, 4)
    started = []
    monkeypatch.setattr(launch, "start", lambda _home, lock, **_streams: started.append(lock) or _Ended())
    launch.ensure_worker(home)
    assert started == []
    queue(trainer, 0, 1)
    launch.ensure_worker(home)
    assert [lock.name for lock in started] == ["worker-0", "worker-1"]


class _Ended:
    def poll(self):
        """It has ended."""
        return 0


def test_a_place_that_is_no_longer_one_is_left(trainer):
    """With fewer workers than before, who has the last place takes no further run, unless another place is free."""
    catalog, home = trainer
    (run,) = queue(trainer, 0)
    for other_is_held, phase in ((True, "QUEUED"), (False, "COMPLETED")):
        slots.set_count(home, 2)
        first, second = slots.take(home), slots.take(home)
        slots.set_count(home, 1)
        if not other_is_held:
            first.release()
        drain.drain(catalog, home, second, drain.Stop())
        assert catalog.run(run.run_id).phase == phase
        first.release()
