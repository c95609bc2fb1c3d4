"""A wait that outlives the service it follows over."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.actions.training.runs.wait import Following
from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer import claims, launch, start
from akka_optimize.trainer.service import server
from akka_optimize.trainer.service.serving import Serving, Starting
from akka_optimize.trainer.servicer import Servicer

PATIENCE = 20.0
PAUSE_SECONDS = 0.3  # longer than gRPC waits before it connects again


@contextmanager
def served_at(port: int, servicer: object) -> Iterator[tuple[int, Serving]]:
    """Serve on this port until the block ends; the port, and what holds the servicer."""
    listening = server.listen("127.0.0.1", port)
    loop, stop, serving = asyncio.new_event_loop(), asyncio.Event(), Serving(servicer)
    port = listening.getsockname()[1]
    thread = threading.Thread(target=loop.run_until_complete, args=(server.run(serving, listening, stop),))
    thread.start()
    try:
        yield port, serving
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


class Trained:
    """A run of this process, and somebody in another thread who waits for it over the network."""

    def __init__(self, folder):
        self.home, self.catalog = life.open_home(folder)
        self.run_id = start.start(self.catalog, self.home, life.descriptor()).run_id
        self.lock = claims.take(self.catalog, self.home)[1]
        self.events, self.came = [], threading.Condition()
        self.record = None
        self.said = []

    def step(self, number):
        """One more update."""
        chunk = pb.MetricsChunk(attempt=1, steps=[number], columns=[pb.MetricsColumn(name="loss", values=[1.0])])
        self.catalog.record(self.run_id, [chunk], observed_step=number, loss=1.0)

    def end(self):
        """The run has ended."""
        self.catalog.set_phase(self.run_id, "COMPLETED", only_from=("PREPARING",))
        self.lock.release()

    def say(self, text):
        """What is said of the connection."""
        with self.came:
            self.said.append(text)
            self.came.notify_all()

    def follow(self, port):
        """Begin to wait, in a thread."""
        address = f"127.0.0.1:{port}"

        def wait():
            trainer = Trainer(GrpcTransport(address, tls=False, address=f"http://{address}"), timeout=5)
            following = Following(
                trainer, self.run_id, timeout=None, say=self.say, sleep=lambda _seconds: time.sleep(PAUSE_SECONDS)
            )
            for event in following.events():
                with self.came:
                    self.events.append(event)
                    self.came.notify_all()
            self.record = following.record()
            trainer.close()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread

    def until(self, step):
        """Wait until the event of an update came."""
        with self.came:
            assert self.came.wait_for(lambda: any(event.step == step for event in self.events), PATIENCE)

    def until_said(self, what):
        """Wait until something was said."""
        with self.came:
            assert self.came.wait_for(lambda: any(what in text for text in self.said), PATIENCE)

    def close(self):
        """The end of the test."""
        self.lock.release()
        self.catalog.close()


@pytest.fixture
def trained(tmp_path):
    """A run in hand."""
    made = Trained(tmp_path)
    yield made
    made.close()


def test_a_restarted_trainer_is_followed_again(trained):
    """Stopped, gone, starting, and there again: every state is told once, the last one terminal, then the record."""
    with served_at(0, Servicer(trained.home, trained.catalog, backend="server")) as (port, _):
        waiting = trained.follow(port)
        trained.step(1)
        trained.until(1)
    trained.until_said("no trainer answers")
    with served_at(port, Starting(trained.home.path)) as (_, serving):
        trained.until_said("starting")
        serving.servicer = Servicer(trained.home, trained.catalog, backend="server")
        trained.step(2)
        trained.until(2)
        trained.end()
        waiting.join(PATIENCE)
    assert len({(event.phase, event.step) for event in trained.events}) == len(trained.events)
    assert trained.events[-1].terminal
    assert trained.record.phase == "COMPLETED"
    assert {event.step for event in trained.events} >= {1, 2}


def test_a_run_that_is_deleted_meanwhile_ends_the_wait(trained, monkeypatch):
    """No patience for what will never come: the run is not found when the trainer is there again."""
    monkeypatch.setattr(launch, "ensure_worker", lambda _home: 0)
    found = []
    with served_at(0, Servicer(trained.home, trained.catalog, backend="server")) as (port, _):
        address = f"127.0.0.1:{port}"
        trainer = Trainer(GrpcTransport(address, tls=False, address=f"http://{address}"), timeout=5)
        events = Following(trainer, trained.run_id, timeout=None, say=trained.said.append).events()
        found.append(next(events))
        trained.catalog.set_phase(trained.run_id, "QUEUED", only_from=("PREPARING",))
        trained.lock.release()
        trained.catalog.request_cancel(trained.run_id)
        trained.catalog.delete_run(trained.run_id)
        with pytest.raises(errors.NotFound):
            found += events
        trainer.close()
    assert (found[0].phase, trained.said) == ("PREPARING", [])
