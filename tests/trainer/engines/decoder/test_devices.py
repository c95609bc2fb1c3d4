"""One run in several processes: the same curve, the same bits each time, and one end for all of them."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import closing
from dataclasses import replace

import pytest
import torch
from support import decoding, processes
from support.decoding import LORA, TRAINING, advance, curve

from akka_optimize.errors import Internal, Refused
from akka_optimize.trainer import seeds
from akka_optimize.trainer.engines import ProcessLost, engine
from akka_optimize.trainer.engines.decoder import devices, peers, state
from akka_optimize.trainer.engines.decoder.group import Linked
from akka_optimize.trainer.engines.decoder.replica import Replica
from akka_optimize.trainer.processes import Process, wait

CHATS = decoding.rows(24, longest=3)
PROMPT_SECONDS = 10.0  # of a machine that may be busy; what is ruled out are minutes


def start(settings=None, **kwargs):
    """A session of the built-in engine, on short ragged rows, by default in two processes."""
    return engine("decoder").start(decoding.job(settings, **({"chats": CHATS, "devices": 2} | kwargs)))


@pytest.fixture
def started(monkeypatch):
    """All processes that sessions start during the test."""
    found = []

    def start_one(original=peers._started):
        found.append(original())
        return found[-1]

    monkeypatch.setattr(peers, "_started", start_one)
    return found


def everything(session, folder):
    """The run to its end: its curve, and the bytes of its files."""
    with closing(session):
        found = curve(session)
        held = session.hold()
    held.save_weights(folder / "weights")
    held.save_training_state(folder / "state")
    return found, (folder / "weights").read_bytes(), (folder / "state").read_bytes()


def test_two_processes_agree_with_one_and_repeat_themselves(tmp_path):
    """2x4x1 agrees with 1x8x1 within 1e-4 in every step's loss over 20 steps of ragged rows; twice, bit for bit."""
    one = curve(start(devices=1, steps=20))
    two, again = (everything(start(steps=20), tmp_path) for _ in range(2))
    assert two == again
    assert [step.loss for step in two[0]] == pytest.approx([step.loss for step in one], abs=1e-4)
    assert [step.grad_norm for step in two[0]] == pytest.approx([step.grad_norm for step in one], rel=1e-3)
    assert [step.tokens for step in two[0]] == [step.tokens for step in one]
    assert one[-1].loss < one[0].loss - 0.1, "nothing was learned, so nothing was compared"
    assert two[0] != one, "one process did all"


def test_all_processes_have_the_same_adapter_after_every_update(tmp_path):
    """Three of them, each with its share of the rows and its own dropout as `run.json` says: equal bits everywhere."""
    size = {f"{TRAINING}.sequencesPerUpdate": 6}
    job = decoding.job(size | {f"{LORA}.dropout": 0.2}, devices=3, chats=CHATS)
    begun, found = {}, {}

    def take_part(rank):
        replica = Replica(job, rank)
        begun[rank] = replica.draws.initial_seed()
        replica.group = Linked(tmp_path / "meeting", rank, 3)
        found[rank] = [(replace(step, seconds=0.0), bytes(replica.digest().tolist())) for step in replica.steps()]

    threads = [threading.Thread(target=take_part, args=[rank]) for rank in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2]
    assert len({digest for _, digest in found[0]}) == 5
    assert begun == {told["process"]: told["dropout"] for told in seeds.document(0, 3)["processes"]}
    assert len(set(begun.values())) == 3


def test_processes_that_do_not_start_alike_do_not_start(monkeypatch, started):
    """An adapter that differs between processes is a fault, found before the first update."""
    monkeypatch.setattr(Replica, "digest", lambda _: torch.zeros(32, dtype=torch.uint8))
    with pytest.raises(Internal, match="2 processes of the run do not start from the same adapter"):
        start()
    assert [process.returncode is None for process in started] == [False]


def test_validation_is_the_first_ones_and_draws_nothing(tmp_path):
    """With a validation and a save after every update the curve is the one without; the loss is one device's.

    What is saved has the generator of each process, under the name that its seed goes by.
    """
    with closing(start({f"{LORA}.dropout": 0.3}, steps=2)) as session:
        plain = curve(session)
    with closing(start({f"{LORA}.dropout": 0.3}, steps=2)) as session:
        first = session.validate()
        found = []
        for step in session.steps():
            session.validate()
            held = session.hold()
            found.append(replace(step, seconds=0.0))
    assert found == plain
    held.save_training_state(tmp_path / "state")
    saved = torch.load(tmp_path / "state", weights_only=True)["generators"]
    assert list(saved) == ["dropout", "dropout/1"] == [state.generator_name(rank) for rank in range(2)]
    assert not torch.equal(*saved.values())
    assert first == start(devices=1).validate()


def test_a_killed_process_ends_the_run(started):
    """At once, in one sentence that says which process, how it ended and when; nothing is left running."""
    with closing(start(steps=1000)) as session:
        steps = session.steps()
        next(steps)
        next(steps)
        started[0].kill()
        began = time.monotonic()
        with pytest.raises(ProcessLost, match=r"^process 1 of 2 ended \(signal 9\) after update \d$") as caught:
            list(steps)
        assert str(caught.value).endswith(("update 2", "update 3"))  # the update at hand may have been done
        with pytest.raises(ProcessLost, match=r"signal 9"):
            session.hold()
        assert time.monotonic() - began < PROMPT_SECONDS
    assert started[0].returncode == -signal.SIGKILL
    session.close()


RUN = """
import sys
from support import decoding
from akka_optimize.trainer.engines import engine

session = engine("decoder").start(decoding.job(steps=100_000, devices=2, chats=decoding.rows(24, longest=3)))
steps = session.steps()
next(steps)
print(session._peers._processes[0].pid, flush=True)
for _ in sys.stdin if sys.argv[1] == "idle" else steps:
    pass
"""


@pytest.mark.parametrize("doing", ["idle", "training"])
def test_a_killed_first_process_leaves_nothing_running(doing):
    """The others see that it is gone, between two updates as well as in the middle of one."""
    with processes.start(RUN, doing) as first:
        other = Process.of(int(first.stdout.readline()))
        assert other.alive()
        first.kill()
        assert wait([other], PROMPT_SECONDS) == []


def test_a_process_that_cannot_start_ends_the_run(monkeypatch, started, capfd):
    """A process that ends before it is ready is not waited for; what it complained of is in the log."""
    monkeypatch.setattr(peers, "MODULE", "akka_optimize.nowhere")
    with pytest.raises(ProcessLost, match=r"^process 1 of 2 ended \(exit status 1\) after update 0$"):
        start()
    assert started[0].returncode == 1
    assert "akka_optimize.nowhere" in capfd.readouterr().err


def test_a_session_that_is_refused_leaves_nothing_running(started, tmp_path):
    """What the first process finds wrong ends those that it has started already."""
    (tmp_path / "state.pt").write_bytes(b"none")
    job = decoding.job(devices=2, chats=CHATS)
    with pytest.raises(Refused):
        engine("decoder").start(replace(job, resume=tmp_path / "state.pt"))
    assert [process.returncode is None for process in started] == [False]


def test_only_the_first_process_is_told_to_stop(started):
    """Signals that go to all processes of a machine's group, as at its end, leave it to the first one when to stop."""
    with closing(start(steps=3)) as session:
        advance(session, 1)
        for number in (signal.SIGTERM, signal.SIGINT):
            started[0].send_signal(number)
        assert [step.step for step in session.steps()] == [2, 3]


def test_a_process_that_hangs_is_ended(monkeypatch, started):
    """One that does not see that it is to end is killed."""
    monkeypatch.setattr(peers, "SECONDS_TO_END", 0.2)
    session = start()
    started[0].send_signal(signal.SIGSTOP)
    session.close()
    assert started[0].returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("there", "expected", "backend"),
    [(0, ["cpu", "cpu"], "gloo"), (1, ["cpu", "cpu"], "gloo"), (2, ["cuda:0", "cuda:1"], "nccl")],
)
def test_accelerators_are_taken_where_there_are_enough(monkeypatch, there, expected, backend):
    """As many as the run asks for, or else none: a run is on one kind of device."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
    taken = devices.chosen(2)
    assert [str(device) for device in taken] == expected
    assert devices.backend(taken) == backend
    assert devices.backend(devices.chosen(1)) is None
