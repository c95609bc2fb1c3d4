"""The queue from the worker's side, in this process."""

from __future__ import annotations

import signal

import pytest
from support import life

from akka_optimize.trainer import claims, launch, slots, start
from akka_optimize.trainer.home import Lock
from akka_optimize.trainer.worker import drain


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def submit(trainer, seed=0):
    """A run that waits."""
    return start.start(*trainer, life.descriptor({"config.seed": seed}))


def test_runs_are_taken_in_the_order_of_their_submission(trainer, monkeypatch):
    """First come, first trained."""
    runs, taken, take = [submit(trainer, seed) for seed in (3, 1, 2)], [], claims.take

    def note(catalog, home):
        found = take(catalog, home)
        taken.append(found and found[0].run_id)
        return found

    monkeypatch.setattr(claims, "take", note)
    drain.drain(*trainer, slots.take(trainer[1]), drain.Stop())
    assert taken == [*(run.run_id for run in runs), None]


class Leaving(Lock):
    """The worker's lock; in the very moment before it is released, somebody submits a run."""

    trainer: tuple
    submitted: list

    def release(self):
        """Submit, see that no worker is started while the lock is held, and let go."""
        if not self.submitted:
            self.submitted.append(submit(self.trainer).run_id)
            launch.ensure_worker(self.trainer[1])
        super().release()


def test_a_run_that_comes_as_the_worker_leaves_is_carried_out(trainer, monkeypatch):
    """The submission found the lock held and started nobody: the leaving worker looks again and takes the run."""
    catalog, home = trainer
    monkeypatch.setattr(launch.subprocess, "Popen", lambda *_args, **_kwargs: pytest.fail("started a second worker"))
    held = slots.take(home)
    monkeypatch.setattr(held, "__class__", Leaving)
    held.trainer, held.submitted = trainer, []
    drain.drain(catalog, home, held, drain.Stop())
    assert catalog.run(held.submitted[0]).phase == "COMPLETED"


def test_a_worker_without_the_lock_takes_nothing(trainer):
    """Where another worker is at work there is nothing to do."""
    run = submit(trainer)
    drain.drain(*trainer, None, drain.Stop())
    assert trainer[0].run(run.run_id).phase == "QUEUED"


def test_main_leaves_to_the_one_that_was_first(trainer):
    """A worker that finds the lock held ends well and touches nothing."""
    run = submit(trainer)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with slots.take(trainer[1]):
            assert drain.main([str(trainer[1].path)]) == 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert trainer[0].run(run.run_id).phase == "QUEUED"


def test_a_worker_begins_by_recovering(trainer):
    """What the worker before left behind is put on record before anything is taken."""
    lost, waiting = submit(trainer), submit(trainer, 1)
    _, lock = claims.take(*trainer)
    lock.release()
    drain.drain(*trainer, slots.take(trainer[1]), drain.Stop())
    assert trainer[0].run(lost.run_id).failure_code == "WORKER_LOST"
    assert trainer[0].run(waiting.run_id).phase == "COMPLETED"


def test_told_to_stop_it_takes_no_further_run(trainer):
    """The queue is left for the next worker."""
    run, stop = submit(trainer), drain.Stop()
    stop.asked = True
    drain.drain(*trainer, slots.take(trainer[1]), stop)
    assert trainer[0].run(run.run_id).phase == "QUEUED"
