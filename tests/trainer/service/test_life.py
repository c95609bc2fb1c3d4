"""One service's life, in this process: what is answered when, what is on record, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import httpx
import pytest
from support.answering import PATIENCE_SECONDS, Answering, post
from support.life import until

from akka_optimize import errors
from akka_optimize.trainer import launch, slots
from akka_optimize.trainer.home import Home
from akka_optimize.trainer.processes import Process
from akka_optimize.trainer.service import background, server
from akka_optimize.trainer.service.life import Life
from akka_optimize.trainer.service.options import Options

CHECK = "/grpc.health.v1.Health/Check"
STUBBORN = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); sys.stdin.read()"


class Opened(Answering):
    """What is behind an open home; `closed` once it was closed."""

    closed = False

    def close(self):
        self.closed = True


class Lived:
    """A life that `drive`, in another thread, looks at and tells to end; `said` is what the user was told."""

    def __init__(self, home, *, open_home, grace=PATIENCE_SECONDS):
        self.home, self.said, self.ready, self.told = home, [], threading.Event(), False
        listening = server.listen("127.0.0.1", 0)
        options = Options(grace=grace)
        self.life = Life(home, listening, options, open_home=open_home, say=self.said.append, ready=self.ready.set)
        self.host = self.life.record.address.partition("//")[2]

    def run(self, drive=lambda _lived: None):
        """Live to the end; the number of the signal."""

        def driven():
            try:
                drive(self)
            finally:
                if not self.told:
                    self.tell(signal.SIGTERM)

        before = signal.signal(signal.SIGTERM, lambda *_: None)  # where it has ended by itself
        try:
            with ThreadPoolExecutor(1) as threads:
                driving = threads.submit(driven)
                number = self.life.run()
            driving.result()
            return number
        finally:
            signal.signal(signal.SIGTERM, before)

    def tell(self, number):
        """Send this process a signal, which its first thread hears; a second one would end the tests."""
        self.told = True
        signal.pthread_kill(threading.main_thread().ident, number)

    def state(self):
        """What the record says; None without one."""
        found = background.running(self.home.path)
        return found and found.state

    def health(self):
        """What a readiness loop is told."""
        return post(self.host, CHECK).json()["status"]


@pytest.fixture
def home(tmp_path):
    """An empty home."""
    return Home.open(tmp_path / "home")


@contextmanager
def stubborn():
    """A process that hears no SIGTERM."""
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_from_an_open_port_to_the_end(home):
    """While the home is opened calls are answered with what the start is at, and health is NOT_SERVING; then it is
    SERVING. The record says starting, ready and stopping, and is gone in the end. The servicer is closed."""
    gate, opened, told = threading.Event(), Opened(), []

    def open_home(given):
        assert given is home
        gate.wait(PATIENCE_SECONDS)
        return opened

    def drive(lived):
        until(lambda: lived.state() == background.STARTING, "the record")
        told.append(post(lived.host, "GetInfo").json()["startup"])
        told.append(post(lived.host, "GetRun").json()["message"])
        told.append((lived.health(), lived.ready.is_set(), lived.state()))
        gate.set()
        assert lived.ready.wait(PATIENCE_SECONDS)
        told.append((post(lived.host, "GetRun", b'{"runId": "a"}').json()["runId"], lived.health(), lived.state()))
        slow = threading.Thread(target=post, args=(lived.host, "GetRun", b'{"runId": "slow"}'))
        slow.start()
        assert opened.entered.wait(PATIENCE_SECONDS)
        lived.tell(signal.SIGTERM)
        until(lambda: lived.state() == background.STOPPING, "the end to begin")
        opened.gate.set()
        slow.join()

    lived = Lived(home, open_home=open_home)
    assert lived.run(drive) == signal.SIGTERM
    assert told[0] == "opening its home"
    assert told[1].startswith("the trainer is starting: ")
    assert told[2] == ("NOT_SERVING", False, background.STARTING)
    assert told[3] == ("a", "SERVING", background.READY)
    assert (lived.state(), opened.closed, lived.life.stuck, lived.life.opening) == (None, True, False, False)


def test_a_home_that_is_being_opened_is_not_waited_for(home):
    """Told to end, it ends at once; that it was still opening is told apart from calls at work."""
    gate = threading.Event()
    lived = Lived(home, open_home=lambda _: gate.wait(PATIENCE_SECONDS))
    try:
        assert lived.run(lambda lived: until(lambda: lived.health() == "NOT_SERVING", "an open port")) == signal.SIGTERM
        assert (lived.life.opening, lived.life.stuck, lived.ready.is_set()) == (True, False, False)
        assert not gate.is_set()
    finally:
        gate.set()
    until(lambda: "opening_0" not in {thread.name for thread in threading.enumerate()}, "the thread to end")


def test_a_call_that_does_not_end_is_not_waited_for_beyond_the_grace(home):
    """The life ends, and says that something is still at work."""
    opened, caller = Opened(), []

    def drive(lived):
        assert lived.ready.wait(PATIENCE_SECONDS)
        caller.append(threading.Thread(target=asked, args=(lived.host,)))
        caller[0].start()
        assert opened.entered.wait(PATIENCE_SECONDS)

    def asked(host):
        with suppress(httpx.HTTPError):  # it is cut off, at the latest with the process
            post(host, "GetRun", b'{"runId": "slow"}')

    lived = Lived(home, open_home=lambda _: opened, grace=0.1)
    try:
        assert lived.run(drive) == signal.SIGTERM
        assert (lived.life.stuck, opened.closed) == (True, False)
    finally:
        opened.gate.set()
    caller[0].join()
    until(lambda: not lived.life.stuck, "the call to end")


def test_what_keeps_a_home_from_opening_is_raised(home):
    """The error comes out as it is, and no record is left."""

    def refuse(_):
        raise errors.Refused("made by a newer akka-optimize")

    lived = Lived(home, open_home=refuse)
    with pytest.raises(errors.Refused, match="newer"):
        lived.run()
    assert (lived.state(), lived.ready.is_set()) == (None, False)
    assert not (home.path / background.RECORD).exists()


def test_workers_are_told_and_waited_for(home, monkeypatch):
    """Each gets SIGTERM and is counted; one that goes on beyond the grace, and one of another user's, are named."""
    told = []
    monkeypatch.setattr(Process, "tell", lambda worker, number: told.append((worker, number)))
    monkeypatch.setattr(slots, "tell", lambda workers, number: told.extend((w, number) for w in workers) or workers[1:])
    slots.set_count(home, 2)
    with stubborn() as one, stubborn() as two, slots.take(home) as first, slots.take(home) as second:
        workers = [Process.of(one.pid), Process.of(two.pid)]
        slots.sign(first, workers[0])
        slots.sign(second, workers[1])
        lived = Lived(home, open_home=lambda _: Opened(), grace=0.1)
        lived.run(lambda lived: lived.ready.wait(PATIENCE_SECONDS))
    assert told == [(worker, signal.SIGTERM) for worker in workers]
    assert lived.said == [
        "stopping; 2 workers end after the update at hand",
        f"the worker in process {two.pid} is another user's, and goes on",
        f"the worker in process {one.pid} is still at its update, and ends after it",
    ]


def test_one_worker_is_one_worker(home):
    """A single one is not spoken of as several, and nothing starts another meanwhile."""
    begun = []
    program = [sys.executable, "-c", "input()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as worker, slots.take(home) as place:
        slots.sign(place, Process.of(worker.pid))
        lived = Lived(home, open_home=lambda _: Opened())
        lived.run(lambda lived: lived.ready.wait(PATIENCE_SECONDS) and begun.append(launch.ensure_worker(home)))
    assert lived.said == ["stopping; 1 worker ends after the update at hand"]
    assert worker.returncode == -signal.SIGTERM
    assert begun == [0]


def test_a_disk_that_becomes_full_ends_no_service(home, monkeypatch):
    """What the record cannot say any more is left out; calls are answered as before."""
    write = background.write

    def full(home, record):
        if record.state != background.STARTING:
            raise errors.Exhausted("no space left on device")
        write(home, record)

    monkeypatch.setattr(background, "write", full)
    lived, told = Lived(home, open_home=lambda _: Opened()), []
    lived.run(lambda lived: lived.ready.wait(PATIENCE_SECONDS) and told.append((lived.health(), lived.state())))
    assert told == [("SERVING", background.STARTING)]
    assert lived.state() is None
