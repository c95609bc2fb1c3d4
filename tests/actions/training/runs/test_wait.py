"""Following a run over a connection that drops."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

import pytest
from support.commands_fake import EVENT, RUN

from akka_optimize import errors
from akka_optimize.actions.training.runs import wait
from akka_optimize.records import Pause

BEGUN = replace(EVENT, phase="TRAINING", step=0, loss=None, terminal=False)
HALF = replace(BEGUN, step=20, loss=2.5)
DROPPED = errors.Unreachable("no trainer answers at http://here")


class Trainer:
    """Plays scripts, one a stream: events, and an error that ends it; and answers for the record."""

    def __init__(self, *streams, records=(RUN,)):
        self.streams, self.records, self.timeouts = list(streams), list(records), []

    def watch_run(self, ref, *, timeout=None):
        """The next script; the last one for ever."""
        assert ref == RUN.run_id
        self.timeouts.append(timeout)
        for act in self.streams.pop(0) if len(self.streams) > 1 else self.streams[0]:
            if isinstance(act, Exception):
                raise act
            if callable(act):
                act()
            else:
                yield act

    def run(self, ref):
        """The next answer; the last one for ever."""
        assert ref == RUN.run_id
        answer = self.records.pop(0) if len(self.records) > 1 else self.records[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class World:
    """A clock that only sleeping moves, chance that is always `chance`, and what was said."""

    def __init__(self, trainer, *, timeout=None, chance=0.5):
        self.now, self.slept, self.said = 100.0, [], []
        self.following = wait.Following(
            trainer,
            RUN.run_id,
            timeout=timeout,
            say=self.said.append,
            sleep=self.sleep,
            clock=lambda: self.now,
            chance=lambda: chance,
        )

    def sleep(self, seconds):
        """Time passes."""
        assert seconds >= 0
        self.slept.append(seconds)
        self.now += seconds


def test_a_stream_that_holds_is_told_as_it_is():
    """Every event once, in order; nothing is said, nothing slept."""
    world = World(Trainer([BEGUN, HALF, EVENT]))
    assert list(world.following.events()) == [BEGUN, HALF, EVENT]
    assert (world.following.record(), world.said, world.slept) == (RUN, [], [])


@pytest.mark.parametrize(
    "end",
    [[DROPPED], [], [errors.TimedOut("a proxy's patience")], [errors.Interrupted("reset on the way")]],
    ids=["dropped", "ended early", "timed out on the way", "reset on the way"],
)
def test_a_dropped_stream_is_opened_again(end):
    """Whatever ended the stream before the run did; its reopening is said once."""
    world = World(Trainer([BEGUN, *end], [HALF, EVENT]))
    assert list(world.following.events()) == [BEGUN, HALF, EVENT]
    assert world.slept == [1.0]
    (said,) = world.said
    assert "trying again in 1 s, 1 of 8" in said


def test_where_the_run_is_still_is_not_told_twice():
    """A reopened stream begins with the state that was told last; another time of it, and NaN, change nothing."""
    nowhere = replace(HALF, loss=math.nan)
    again = replace(nowhere, loss=float("nan"), at="2026-01-01T00:05:00Z")
    world = World(Trainer([BEGUN, nowhere, DROPPED], [again, DROPPED], [again, EVENT]))
    told = list(world.following.events())
    assert [(event.phase, event.step) for event in told] == [("TRAINING", 0), ("TRAINING", 20), ("COMPLETED", 40)]


def test_eight_tries_in_a_row_take_two_minutes():
    """Then the wait ends, and says that the run goes on and how to follow it again."""
    world = World(Trainer([BEGUN, DROPPED], [DROPPED]))
    events = world.following.events()
    assert next(events) == BEGUN
    with pytest.raises(errors.Unreachable, match=f"8 tries in a row failed .*run {RUN.run_id} goes on") as caught:
        list(events)
    assert caught.value.exit_code == 3
    assert f"akka-optimize training runs wait {RUN.run_id}" in caught.value.hint
    assert world.slept == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    assert [said.rpartition(", ")[2] for said in world.said] == [f"{number} of 8" for number in range(1, 9)]


@pytest.mark.parametrize(("chance", "share"), [(0.0, 0.75), (1.0, 1.25)])
def test_the_pauses_differ_by_chance(chance, share):
    """A quarter either way, so that a thousand followers do not come back at once."""
    world = World(Trainer([DROPPED]), chance=chance)
    with pytest.raises(errors.Unreachable):
        list(world.following.events())
    assert world.slept == [delay * share for delay in wait.DELAYS]


def test_whatever_arrives_makes_the_count_begin_anew():
    """A connection that drops every minute is followed for ever, also while nothing changes."""
    steps = count(1)
    streams = [[DROPPED] * 1, [DROPPED], [replace(HALF, step=next(steps)), DROPPED], [HALF, DROPPED], [HALF, DROPPED]]
    world = World(Trainer([BEGUN, DROPPED], *streams, [EVENT]))
    assert list(world.following.events())[-1] == EVENT
    assert world.slept == [1.0, 2.0, 4.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("kind", [errors.NotFound, errors.Unauthenticated, errors.Refused, errors.Internal])
def test_other_errors_end_the_wait_at_once(kind):
    """A run that is gone, a token that holds no more: trying again would not help."""
    world = World(Trainer([BEGUN, kind("no more")]))
    with pytest.raises(kind, match="no more"):
        list(world.following.events())
    assert (world.slept, world.said) == ([], [])


def test_an_end_that_arrived_is_the_end():
    """What becomes of the stream after its terminal event is nothing to anybody."""
    world = World(Trainer([EVENT, DROPPED]))
    assert list(world.following.events()) == [EVENT]
    assert world.slept == []


def test_the_record_is_fetched_with_the_same_patience():
    """The trainer may be lost just after the run's end."""
    world = World(Trainer([EVENT], records=[DROPPED, errors.TimedOut("late"), RUN]))
    list(world.following.events())
    assert world.following.record() == RUN
    assert world.slept == [1.0, 2.0]


def test_a_record_that_never_comes_says_that_the_run_has_ended():
    """Nobody is told that a run goes on which has ended."""
    world = World(Trainer([EVENT], records=[DROPPED]))
    list(world.following.events())
    with pytest.raises(errors.Unreachable, match="has ended") as caught:
        world.following.record()
    assert f"runs get {RUN.run_id}" in caught.value.hint
    assert len(world.slept) == 8


def test_the_bound_is_the_waits_own():
    """Each stream gets what is left of it, and so does the last pause; then the wait ends, and the run goes on."""
    trainer = Trainer([BEGUN, DROPPED], [DROPPED])
    world = World(trainer, timeout=10.0)
    with pytest.raises(errors.TimedOut, match=rf"10 s ran out; run {RUN.run_id} goes on") as caught:
        list(world.following.events())
    assert (caught.value.exit_code, trainer.timeouts, world.slept) == (3, [10.0, 9.0, 7.0, 3.0], [1.0, 2.0, 4.0, 3.0])


def test_a_deadline_that_the_stream_reports_is_the_bound():
    """The transport may be the first to notice, and a little early."""
    trainer = Trainer([])
    world = World(trainer, timeout=60.0)

    def later():
        world.now += 59.8

    trainer.streams = [[BEGUN, later, errors.TimedOut("in time")]]
    with pytest.raises(errors.TimedOut, match="60 s ran out"):
        list(world.following.events())
    assert (world.slept, world.said) == ([], [])


def test_an_interrupt_is_passed_on():
    """Ctrl-C in a pause ends it; what is left to say names the run."""
    world = World(Trainer([DROPPED]))

    def interrupted(_seconds):
        raise KeyboardInterrupt

    world.following._sleep = interrupted
    with pytest.raises(KeyboardInterrupt):
        list(world.following.events())
    assert world.following.left() == (
        f"run {RUN.run_id} goes on; to follow it again: akka-optimize training runs wait {RUN.run_id}"
    )


PAUSED = replace(HALF, phase="PAUSED")


def stands_still(checkpoint, reason=None, **other):
    """The run, paused by somebody, or by the trainer where no checkpoint was chosen."""
    pause = Pause(checkpoint, "2026-01-01T00:00:00Z", 20, reason, True)
    return replace(RUN, phase="PAUSED", pause=pause, **other)


def test_a_run_that_somebody_paused_is_waited_for():
    """It is said once for each pause; the run goes on, pauses again, and ends."""
    records = [stands_still("save")] * 3 + [RUN]
    world = World(Trainer([BEGUN, PAUSED, PAUSED, BEGUN, PAUSED, EVENT], records=records))
    assert list(world.following.events()) == [BEGUN, PAUSED, BEGUN, PAUSED, EVENT]
    assert world.following.record() == RUN
    assert len(world.said) == 2
    assert all("goes on waiting" in said and f"resume {RUN.run_id}" in said for said in world.said)


def test_a_run_that_the_trainer_paused_ends_the_wait():
    """What comes after is not waited for; the record is the one that says why, even if somebody resumes the run now."""
    stuck = stands_still(None, "no room on the disk")
    world = World(Trainer([BEGUN, PAUSED, EVENT], records=[stuck, RUN]))
    assert list(world.following.events()) == [BEGUN, PAUSED]
    assert world.following.record() == stuck
    with pytest.raises(errors.Refused, match="paused by the trainer: no room on the disk") as caught:
        wait.require_ended(stuck)
    assert f"resume {RUN.run_id}" in caught.value.hint


def test_a_pause_that_is_over_before_it_is_looked_at():
    """The run goes on by then, and nothing is said."""
    world = World(Trainer([PAUSED, EVENT], records=[replace(RUN, phase="QUEUED"), RUN]))
    assert list(world.following.events()) == [PAUSED, EVENT]
    assert world.said == []


def test_a_connection_that_drops_while_a_pause_is_looked_at():
    """It is opened again, the pause is told once, and who paused is found out all the same."""
    world = World(Trainer([PAUSED], records=[DROPPED, stands_still(None, "no room")]))
    assert list(world.following.events()) == [PAUSED]
    assert world.following.record().pause.reason == "no room"
    assert len(world.slept) == 1


@pytest.mark.parametrize("run", [RUN, stands_still("latest"), replace(RUN, phase="FAILED")])
def test_any_other_run_has_ended_or_is_waited_for(run):
    """Only the trainer's own pause is refused."""
    wait.require_ended(run)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (stands_still(None, None, failure_reason="the disk is full"), "the disk is full"),
        (stands_still(None), "did not say why"),
        (replace(RUN, phase="PAUSED", pause=None), "did not say why"),
    ],
)
def test_a_pause_without_a_reason(run, said):
    """What else is known of it is told."""
    with pytest.raises(errors.Refused, match=said):
        wait.require_ended(run)
