"""Many followers on one watch."""

from __future__ import annotations

import asyncio
import queue
import threading
from contextlib import aclosing

import pytest

from akka_optimize import errors
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import following
from akka_optimize.trainer.service.following import Following

RUN = pb.WatchRunRequest(run_id="7d496e82c3a15f04")
PATIENCE = 10.0


class Serving:
    """A servicer whose events a test deals out, one queue for each watch that was begun."""

    def __init__(self):
        self.servicer, self.dealt, self.ended, self.stopping = object(), [], threading.Semaphore(0), False

    def method(self, name):
        """Its only method, as long as it does not stop."""
        assert name == "WatchRun"
        if self.stopping:
            raise errors.Unreachable("the trainer is stopping")
        return self._watch

    def _watch(self, request, call):
        mine = queue.SimpleQueue()
        self.dealt.append(mine)
        try:
            assert call.time_remaining() is None
            while call.is_active() and not self.stopping:
                try:
                    act = mine.get(timeout=0.01)
                except queue.Empty:
                    continue
                if isinstance(act, Exception):
                    raise act
                yield act
                if act.terminal:
                    return
            if self.stopping:
                raise errors.Unreachable("the trainer is stopping")
        finally:
            self.ended.release()

    async def until_ended(self, watches=1):
        """Wait until so many watches have ended."""
        for _ in range(watches):
            assert await asyncio.to_thread(self.ended.acquire, timeout=PATIENCE)

    async def begun(self, watches=1):
        """Wait until so many watches have begun; the newest one's queue."""
        async with asyncio.timeout(PATIENCE):
            while len(self.dealt) < watches:
                await asyncio.sleep(0.001)
        return self.dealt[-1]


def event(step, *, terminal=False):
    """One event."""
    return pb.RunEvent(run_id=RUN.run_id, phase="COMPLETED" if terminal else "TRAINING", step=step, terminal=terminal)


async def gathered(events):
    """The steps of every event until the end."""
    async with aclosing(events):
        return [each.step async for each in events]


async def first(events):
    """The first event's step; the rest is for the caller to take."""
    return (await anext(events)).step


def on_loop(test):
    """Run a test's coroutine with a `Serving` and its `Following`, and see that no watch outlives it."""

    def run():
        async def whole():
            serving = Serving()
            await asyncio.wait_for(test(serving, Following(serving)), PATIENCE)
            await serving.until_ended(len(serving.dealt))

        asyncio.run(whole())

    run.__doc__ = test.__doc__
    run.__name__ = test.__name__
    return run


@on_loop
async def test_one_watch_serves_every_follower(serving, shared):
    """64 followers of one run cost one watch, and each gets every event in order, the terminal one last."""
    told = [asyncio.create_task(gathered(shared.follow(RUN))) for _ in range(64)]
    dealt = await serving.begun()
    for step in range(20):
        dealt.put(event(step))
    dealt.put(event(20, terminal=True))
    assert await asyncio.gather(*told) == [list(range(21))] * 64
    assert len(serving.dealt) == 1


@on_loop
async def test_a_latecomer_first_gets_where_the_run_is_now(serving, shared):
    """And then what everybody gets."""
    early = shared.follow(RUN)
    begun = asyncio.create_task(first(early))
    dealt = await serving.begun()
    dealt.put(event(1))
    assert await begun == 1
    late = shared.follow(RUN)
    assert await first(late) == 1
    dealt.put(event(2))
    dealt.put(event(3, terminal=True))
    assert await asyncio.gather(gathered(early), gathered(late)) == [[2, 3], [2, 3]]
    assert len(serving.dealt) == 1


@on_loop
async def test_a_slow_follower_delays_nobody_and_gets_the_end(serving, shared):
    """While one takes nothing, another gets everything; the slow one has the newest events, the terminal one last."""
    slow, quick = shared.follow(RUN), shared.follow(RUN)
    begun = [asyncio.create_task(first(each)) for each in (slow, quick)]
    dealt = await serving.begun()
    dealt.put(event(0))
    assert await asyncio.gather(*begun) == [0, 0]
    last = 5 * following.BACKLOG
    for step in range(1, last):
        dealt.put(event(step))
    dealt.put(event(last, terminal=True))
    assert await gathered(quick) == list(range(1, last + 1))
    assert await gathered(slow) == list(range(last + 1 - following.BACKLOG, last + 1))


@on_loop
async def test_the_watch_ends_with_its_last_follower(serving, shared):
    """One that leaves is nothing to the others; when all have left, the servicer's thread is let go."""
    followers = [shared.follow(RUN) for _ in range(3)]
    begun = [asyncio.create_task(first(each)) for each in followers]
    dealt = await serving.begun()
    dealt.put(event(1))
    await asyncio.gather(*begun)
    await followers[0].aclose()
    await followers[1].aclose()
    dealt.put(event(2))
    assert await first(followers[2]) == 2
    await followers[2].aclose()
    await serving.until_ended()
    serving.ended.release()  # for the end of the test
    assert len(serving.dealt) == 1


@on_loop
async def test_following_again_begins_another_watch(serving, shared):
    """A run that nobody followed for a while is watched anew, and no end of the former watch disturbs the new one."""
    for number in (1, 2, 3):
        events = shared.follow(RUN)
        begun = asyncio.create_task(first(events))
        (await serving.begun(number)).put(event(number))
        assert await begun == number
        await events.aclose()


@on_loop
async def test_a_follower_that_is_cancelled_leaves(serving, shared):
    """A deadline or a caller that is gone cancels the follower wherever it waits, and the watch ends."""
    waiting = asyncio.create_task(gathered(shared.follow(RUN)))
    await serving.begun()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize(
    "error", [errors.NotFound("no such run"), ValueError("a fault of ours")], ids=["ours", "fault"]
)
def test_an_error_of_the_servicer_reaches_everybody(error):
    """After what came before it; an error that is none of ours as well, for it would be lost in the thread."""

    async def play():
        serving = Serving()
        shared = Following(serving)
        followers = [shared.follow(RUN) for _ in range(3)]
        begun = [asyncio.create_task(first(each)) for each in followers]
        dealt = await serving.begun()
        dealt.put(event(1))
        await asyncio.gather(*begun)
        dealt.put(event(2))
        dealt.put(error)
        for each in followers:
            assert await first(each) == 2
            with pytest.raises(type(error), match=str(error)):
                await anext(each)
        await serving.until_ended()

    asyncio.run(asyncio.wait_for(play(), PATIENCE))


@on_loop
async def test_runs_are_watched_apart(serving, shared):
    """Another run, and another servicer behind the same service, is another watch."""
    told = [asyncio.create_task(gathered(shared.follow(RUN)))]
    (await serving.begun(1)).put(event(1, terminal=True))
    told.append(asyncio.create_task(gathered(shared.follow(pb.WatchRunRequest(run_id="another")))))
    (await serving.begun(2)).put(event(2, terminal=True))
    assert await asyncio.gather(*told) == [[1], [2]]


@on_loop
async def test_a_service_that_ends_tells_its_followers(serving, shared):
    """They end with Unreachable, and so does whoever comes then, also while others are still there."""
    told = [asyncio.create_task(gathered(shared.follow(RUN))) for _ in range(2)]
    await serving.begun()
    serving.stopping = True
    with pytest.raises(errors.Unreachable, match="stopping"):
        await first(shared.follow(RUN))
    found = await asyncio.gather(*told, return_exceptions=True)
    assert [type(error) for error in found] == [errors.Unreachable] * 2


@on_loop
async def test_there_is_a_limit_to_the_runs_that_are_followed(serving, shared):
    """Each takes a thread, so one too many is refused; another follower of the same run is none too many."""
    following_now = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "MOST_RUNS", 2)
        for number in (1, 2):
            request = pb.WatchRunRequest(run_id=f"run-{number}")
            following_now.append(asyncio.create_task(gathered(shared.follow(request))))
            await serving.begun(number)
        following_now.append(asyncio.create_task(gathered(shared.follow(pb.WatchRunRequest(run_id="run-1")))))
        with pytest.raises(errors.Exhausted, match="2 runs"):
            await first(shared.follow(RUN))
    for dealt in serving.dealt:
        dealt.put(event(1, terminal=True))
    assert await asyncio.gather(*following_now) == [[1]] * 3


@on_loop
async def test_who_leaves_an_ended_watch_disturbs_no_later_one(serving, shared):
    """A follower that is late with the end of one watch leaves while the next one of the same run is shared."""
    late = shared.follow(RUN)
    begun = asyncio.create_task(first(late))
    dealt = await serving.begun()
    dealt.put(event(1))
    assert await begun == 1
    dealt.put(errors.Exhausted("no room"))
    await serving.until_ended()
    serving.ended.release()  # for the end of the test
    while shared._watches:  # until the loop has heard of it
        await asyncio.sleep(0.001)
    again = asyncio.create_task(gathered(shared.follow(RUN)))
    await serving.begun(2)
    await late.aclose()
    another = asyncio.create_task(gathered(shared.follow(RUN)))
    await asyncio.sleep(0)
    serving.dealt[1].put(event(2, terminal=True))
    assert await asyncio.gather(again, another) == [[2], [2]]
    assert len(serving.dealt) == 2
