"""No call waits for another one: neither for one that blocks, nor for a client that does not read."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import grpc
import pytest
from support.service import served

from akka_optimize.protocol import SERVICE
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service import pacing, server
from akka_optimize.trainer.service.serving import Serving

BLOCK_SECONDS = 0.6
BEAT_SECONDS = 0.005
CHUNK = pb.MetricsChunk(attempt=1, columns=[pb.MetricsColumn(name="loss", values=[1.0] * 60_000)])  # half a MiB
CHUNKS = 60  # 30 MB a stream, more than any window or socket holds
PATIENCE = 20.0


class Blocking:
    """Every method blocks its thread, and so does every step of a stream."""

    def GetRun(self, request, call):
        time.sleep(BLOCK_SECONDS)
        return pb.Run(run_id=request.run_id)

    def WriteUpload(self, request, call):
        time.sleep(BLOCK_SECONDS)
        return pb.WriteUploadReply(size=len(request.data))

    def GetMetrics(self, request, call):
        time.sleep(BLOCK_SECONDS)
        yield CHUNK

    def WatchRun(self, request, call):
        time.sleep(BLOCK_SECONDS)
        yield pb.RunEvent(run_id=request.run_id, terminal=True)


class Big:
    """Long curves, and runs that answer at once; counts the chunks that were asked for."""

    def __init__(self):
        self.produced, self.lock = 0, threading.Lock()

    def GetRun(self, request, call):
        return pb.Run(run_id=request.run_id)

    def GetMetrics(self, request, call):
        for _ in range(CHUNKS):
            with self.lock:
                self.produced += 1
            yield CHUNK


class Client:
    """Stock gRPC on a connection of its own."""

    def __init__(self, host):
        self.channel = grpc.insecure_channel(host, options=[("grpc.use_local_subchannel_pool", 1)])

    def call(self, method, request, reply, *, streamed=False, timeout=PATIENCE):
        """Begin a call: the reply, or the stream."""
        make = self.channel.unary_stream if streamed else self.channel.unary_unary
        name = f"/{SERVICE}/{method}"
        begin = make(name, request_serializer=type(request).SerializeToString, response_deserializer=reply.FromString)
        return begin(request, timeout=timeout)

    def metrics(self):
        """A stream of curves, of which nothing has been read yet."""
        return self.call("GetMetrics", pb.GetMetricsRequest(run_id="a"), pb.MetricsChunk, streamed=True)

    def answers(self):
        """Does an ordinary call come back?"""
        return self.call("GetRun", pb.GetRunRequest(run_id="a"), pb.Run).run_id == "a"


@contextmanager
def clients(servicer, number=2):
    """So many connections to a service."""
    with served(servicer) as host:
        made = [Client(host) for _ in range(number)]
        try:
            yield made
        finally:
            for each in made:
                each.channel.close()


def settled(big):
    """The number of chunks that were asked for, once it no longer grows."""
    deadline, produced = time.monotonic() + PATIENCE, -1
    while produced != big.produced and time.monotonic() < deadline:
        produced = big.produced
        time.sleep(0.3)
    return produced


def test_the_event_loop_never_waits_for_a_method():
    """While every kind of call blocks at once, the loop's heart goes on beating."""
    listening = server.listen("127.0.0.1", 0)
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    beats: list[float] = []

    def call_everything():
        client = Client(host)
        run = pb.GetRunRequest(run_id="a")
        upload = pb.WriteUploadRequest(upload_id="0" * 32, data=b"x" * (1 << 20))
        streams = [client.metrics(), client.call("WatchRun", pb.WatchRunRequest(), pb.RunEvent, streamed=True)]
        waiting = threading.Thread(target=lambda: [list(stream) for stream in streams])
        waiting.start()
        client.call("GetRun", run, pb.Run)
        client.call("WriteUpload", upload, pb.WriteUploadReply)
        waiting.join()
        client.channel.close()

    async def beat():
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(BEAT_SECONDS)

    async def play():
        stop = asyncio.Event()
        serving = asyncio.create_task(server.run(Serving(Blocking()), listening, stop))
        heart = asyncio.create_task(beat())
        await asyncio.to_thread(call_everything)
        heart.cancel()
        stop.set()
        await serving

    asyncio.run(play())
    assert len(beats) > 20
    assert max(later - earlier for earlier, later in pairwise(beats)) < BLOCK_SECONDS * 0.8


def test_a_client_that_does_not_read_delays_nobody_and_is_not_written_for():
    """Its connection and others go on answering, and the service makes no more of its result than the windows hold."""
    big = Big()
    with clients(big) as (slow, other):
        unread = slow.metrics()
        next(unread)
        assert slow.answers()
        assert other.answers()
        assert settled(big) < CHUNKS / 2
        assert slow.answers()
        assert sum(1 for _ in unread) == CHUNKS - 1


def test_slow_streams_take_no_threads():
    """More slow readers than the service has threads, and an ordinary call still finds one."""
    with clients(Big()) as (slow, other):
        unread = [slow.metrics() for _ in range(server.THREADS + 4)]
        for stream in unread:
            next(stream)
        assert slow.answers()
        assert other.answers()
        for stream in unread:
            stream.cancel()


@pytest.mark.parametrize("way", ["cancelled", "connection closed"])
def test_a_slow_reader_that_goes_is_forgotten(way):
    """The service ends at once, and does not wait until somebody takes what nobody will."""
    big = Big()
    with clients(big) as (slow, other):
        unread = slow.metrics()
        next(unread)
        settled(big)
        unread.cancel() if way == "cancelled" else slow.channel.close()
        assert other.answers()
        begun = time.monotonic()
    assert time.monotonic() - begun < 1.5


def test_pacing_twice_is_pacing_once():
    """Each service of a process installs it."""
    pacing.install()
    first = pacing.h2.StreamBuffer
    pacing.install()
    assert pacing.h2.StreamBuffer is first is pacing.PacedBuffer
