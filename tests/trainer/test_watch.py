"""A watcher is told where a run is, of each change, and last of its end."""

from __future__ import annotations

import math

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer import claims, recover, start, watch


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows; workers are counted and not started."""
    home, catalog = life.open_home(tmp_path)
    monkeypatch.setattr("akka_optimize.trainer.launch.ensure_worker", lambda home: LAUNCHED.append(home) or 0)
    LAUNCHED.clear()
    with catalog:
        yield catalog, home


LAUNCHED: list[object] = []


class Script:
    """A sleep during which the next thing happens."""

    def __init__(self, *acts):
        self.acts, self.slept = list(acts), 0

    def __call__(self, seconds):
        """Do what is next, if anything is left to do."""
        self.slept += 1
        assert self.slept < 100, "nothing is left to happen, and the watch goes on"
        if self.acts:
            self.acts.pop(0)()


def queued(trainer):
    """A run that waits."""
    return start.start(*trainer, life.descriptor()).run_id


def test_every_change_is_told_once(trainer):
    """QUEUED at once, then TRAINING, each new update, nothing while nothing changes, and the end last."""
    catalog, home = trainer
    run_id = queued(trainer)
    held = []

    def claim():
        held.append(claims.take(catalog, home)[1])
        catalog.set_phase(run_id, "TRAINING", only_from=("PREPARING",))

    def step(number):
        chunk = pb.MetricsChunk(attempt=1, steps=[number], columns=[pb.MetricsColumn(name="loss", values=[1.0])])
        catalog.record(run_id, [chunk], observed_step=number, loss=1.0)

    def end():
        catalog.set_phase(run_id, "COMPLETED", only_from=("TRAINING",))

    script = Script(lambda: None, claim, lambda: step(1), lambda: None, lambda: step(2), end)
    events = list(watch.watch(watch.Lookout(catalog, home), run_id, sleep=script))
    told = [(event.phase, event.step, event.terminal) for event in events]
    assert told == [
        ("QUEUED", 0, False),
        ("TRAINING", 0, False),
        ("TRAINING", 1, False),
        ("TRAINING", 2, False),
        ("COMPLETED", 2, True),
    ]
    assert {event.steps for event in events} == {20}
    held[0].release()


def test_a_loss_that_is_not_a_number_is_one_event(trainer):
    """NaN differs from itself, and is told once all the same."""
    catalog, home = trainer
    run_id = queued(trainer)
    _, lock = claims.take(catalog, home)
    chunk = pb.MetricsChunk(attempt=1, steps=[1], columns=[pb.MetricsColumn(name="loss", values=[math.nan])])
    catalog.record(run_id, [chunk], observed_step=1, loss=math.nan)
    script = Script(*[lambda: None] * 5, lambda: catalog.set_phase(run_id, "FAILED", only_from=("PREPARING",)))
    events = list(watch.watch(watch.Lookout(catalog, home), run_id, sleep=script))
    assert [event.phase for event in events] == ["PREPARING", "FAILED"]
    assert math.isnan(events[0].loss)
    lock.release()


def test_a_lost_worker_ends_the_watch(trainer):
    """When the worker dies while somebody watches, the last event says so."""
    catalog, home = trainer
    run_id = queued(trainer)
    _, lock = claims.take(catalog, home)
    *_, last = watch.watch(watch.Lookout(catalog, home), run_id, sleep=Script(lambda: None, lock.release))
    assert (last.phase, last.terminal, last.failure_code) == ("FAILED", True, "WORKER_LOST")
    assert "worker" in last.failure_reason


def test_an_ended_run_is_one_event(trainer):
    """Watching a run that has ended says so and returns."""
    run_id = queued(trainer)
    trainer[0].request_cancel(run_id)
    (event,) = watch.watch(watch.Lookout(*trainer), run_id, sleep=lambda _seconds: pytest.fail("waited"))
    assert (event.phase, event.terminal) == ("CANCELLED", True)


def test_nobody_listens_any_more(trainer):
    """Once the caller is gone, the watch ends without a terminal event."""
    alive = iter([True, True, False])
    events = list(watch.watch(watch.Lookout(*trainer), queued(trainer), alive=lambda: next(alive), sleep=Script()))
    assert [event.phase for event in events] == ["QUEUED"]


def test_a_queue_without_a_worker_gets_one(trainer):
    """A watcher of a waiting run sees that somebody works; not at every look, for a worker takes time to begin."""
    run_id = queued(trainer)
    script = Script(*[lambda: None] * 20, lambda: trainer[0].request_cancel(run_id))
    list(watch.watch(watch.Lookout(*trainer), run_id, sleep=script))
    assert len(LAUNCHED) == 3
    assert script.slept == 21


def test_an_unknown_run_is_not_found(trainer):
    """There is nothing to watch."""
    with pytest.raises(errors.NotFound):
        next(watch.watch(watch.Lookout(*trainer), "0" * 16))


def full(*args, **kwargs):
    """What anything does on a full disk."""
    raise errors.Exhausted("the disk is full")


def test_an_end_that_cannot_be_written_ends_the_watch(trainer, monkeypatch):
    """When the worker died and the disk has no room for the run's end, the watch says so and does not wait for ever."""
    catalog, home = trainer
    run_id = queued(trainer)
    claims.take(catalog, home)[1].release()
    monkeypatch.setattr(catalog, "set_phase", full)
    events = watch.watch(watch.Lookout(catalog, home), run_id, sleep=lambda _seconds: pytest.fail("waited"))
    assert next(events).phase == "PREPARING"
    with pytest.raises(errors.Exhausted, match="disk is full"):
        next(events)


def test_another_runs_end_that_cannot_be_written_is_nothing_to_a_living_run(trainer, monkeypatch):
    """As long as somebody works on the run that is watched, its end may come."""
    catalog, home = trainer
    queued(trainer)
    claims.take(catalog, home)[1].release()
    run_id = queued(trainer)
    really = catalog.set_phase
    with claims.take(catalog, home)[1]:
        monkeypatch.setattr(catalog, "set_phase", full)
        script = Script(*[lambda: None] * 5, lambda: really(run_id, "COMPLETED", only_from=("PREPARING",)))
        events = list(watch.watch(watch.Lookout(catalog, home), run_id, sleep=script))
    assert [event.phase for event in events] == ["PREPARING", "COMPLETED"]


@pytest.mark.parametrize("room", [False, True], ids=["full-disk", "something-else"])
def test_workers_that_cannot_begin_end_the_watch(trainer, monkeypatch, room):
    """A run that waits while one worker after the other ends at once is not waited for: disk or log say why."""
    catalog, home = trainer
    run_id = queued(trainer)
    monkeypatch.setattr("akka_optimize.trainer.launch.ensure_worker", lambda _home: 1)
    if not room:
        monkeypatch.setattr(catalog, "require_room", full)
    kind, said = (errors.Refused, "ended without taking it") if room else (errors.Exhausted, "disk is full")
    with pytest.raises(kind, match=said) as caught:
        list(watch.watch(watch.Lookout(catalog, home), run_id, sleep=Script()))
    assert not room or str(home.path / "worker.log") in caught.value.hint


def test_one_look_serves_every_watcher(trainer, monkeypatch):
    """However many runs are watched at once, the catalog is asked as often as for one, and lost runs are sought so."""
    catalog, home = trainer
    run_ids = [queued(trainer) for _ in range(64)]
    asked, sought = [], []
    states, end_lost = catalog.states, recover.end_lost
    monkeypatch.setattr(catalog, "states", lambda ids: asked.append(len(ids)) or states(ids))
    monkeypatch.setattr(recover, "end_lost", lambda *args: sought.append(args) or end_lost(*args))
    now = 0.0
    lookout = watch.Lookout(catalog, home, seconds=watch.SHARED_SECONDS, clock=lambda: now)
    watchers = [watch.watch(lookout, run_id, sleep=lambda _seconds: None) for run_id in run_ids]
    assert [next(watcher).phase for watcher in watchers] == ["QUEUED"] * 64
    asked.clear()
    sought.clear()
    for run_id in run_ids:
        catalog.request_cancel(run_id)
    now += watch.SHARED_SECONDS
    assert [next(watcher).phase for watcher in watchers] == ["CANCELLED"] * 64
    assert (asked, len(sought)) == ([64], 1)


def test_a_look_holds_for_its_time_and_no_longer(trainer):
    """What a look found is told again until its time is over; a run that it did not look for is looked for at once."""
    catalog, home = trainer
    first, second = queued(trainer), queued(trainer)
    now = 0.0
    lookout = watch.Lookout(catalog, home, seconds=1.0, clock=lambda: now)
    with lookout.watching(first):
        assert lookout.look(first)[0].phase == "QUEUED"
        catalog.request_cancel(first)
        now = 0.9
        assert lookout.look(first)[0].phase == "QUEUED"
        with lookout.watching(second):
            assert lookout.look(second)[0].phase == "QUEUED"
        assert lookout.look(first)[0].phase == "CANCELLED"


def test_a_run_that_is_deleted_while_it_is_watched_is_not_found(trainer):
    """Nobody waits for the end of a run that is gone."""
    catalog, home = trainer
    run_id = queued(trainer)
    watcher = watch.watch(watch.Lookout(catalog, home), run_id, sleep=Script(lambda: forget(catalog, run_id)))
    assert next(watcher).phase == "QUEUED"
    with pytest.raises(errors.NotFound):
        next(watcher)


def forget(catalog, run_id):
    """End a run and delete it."""
    catalog.request_cancel(run_id)
    catalog.delete_run(run_id)


def test_a_paused_run_is_watched_on(trainer):
    """A pause is told and ends nothing; a resumed run waits, trains and ends before the same watcher's eyes."""
    catalog, home = trainer
    run_id = queued(trainer)
    script = Script(
        lambda: catalog.request_pause(run_id, "save"),
        lambda: None,
        lambda: catalog.requeue(run_id),
        lambda: catalog.request_cancel(run_id),
    )
    events = list(watch.watch(watch.Lookout(catalog, home), run_id, sleep=script))
    assert [(event.phase, event.terminal) for event in events] == [
        ("QUEUED", False),
        ("PAUSED", False),
        ("QUEUED", False),
        ("CANCELLED", True),
    ]


def test_no_worker_is_started_for_a_paused_run(trainer):
    """It waits for somebody, and not for its turn."""
    catalog, home = trainer
    run_id = queued(trainer)
    catalog.request_pause(run_id, "latest")
    script = Script(*[lambda: None] * 30, lambda: catalog.request_cancel(run_id))
    list(watch.watch(watch.Lookout(catalog, home), run_id, sleep=script))
    assert LAUNCHED == []


def test_a_lost_worker_of_a_run_that_was_to_pause(trainer):
    """Where nothing was to be saved its end is the pause, and the watch goes on."""
    catalog, home = trainer
    run_id = queued(trainer)
    _, lock = claims.take(catalog, home)
    catalog.request_pause(run_id, "latest")
    script = Script(lock.release, lambda: None, lambda: catalog.request_cancel(run_id))
    events = list(watch.watch(watch.Lookout(catalog, home), run_id, sleep=script))
    assert [event.phase for event in events] == ["PREPARING", "PAUSED", "CANCELLED"]
