"""Runs whose worker or whose watcher goes away: what is said, and what goes on."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from support.homes import CommandLine
from support.life import until

SLOW = {"AKKA_ARITHMETIC_STEP_SECONDS": "0.05"}
LONG = "hyperparams.training.maxSteps=10000"


@pytest.fixture
def shell(tmp_path) -> Iterator[CommandLine]:
    """A home of the test's own, with one finished run; no worker outlives the test."""
    shell = CommandLine(tmp_path / "home").prepare()
    shell.start("name=first", wait=True)
    yield shell
    for pid in workers(shell):
        os.kill(pid, signal.SIGKILL)


def workers(shell: CommandLine) -> list[int]:
    """The processes that work on this home."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], check=True, capture_output=True, text=True).stdout
    lines = (line.split(maxsplit=1) for line in listed.splitlines())
    return [int(pid) for pid, args in lines if f"akka_optimize.trainer.worker {shell.folder}" in args]


def training(shell: CommandLine) -> str:
    """A run that has recorded some steps and has many before it; its id."""
    run_id = shell.start("name=lost", LONG, environ=SLOW)
    until(lambda: shell.json(f"training runs get {run_id}")["observedStep"] > 0, "the first recorded step")
    return run_id


def test_a_worker_that_is_killed_leaves_a_failed_run(shell):
    """kill -9 in mid-run: at the next command the run is FAILED with a reason, and every other command works."""
    run_id = training(shell)
    (worker,) = workers(shell)
    os.kill(worker, signal.SIGKILL)
    until(lambda: not workers(shell), "the worker to be gone")
    run = shell.json(f"training runs get {run_id}")
    assert (run["phase"], run["failureCode"], run["resumable"]) == ("FAILED", "WORKER_LOST", True)
    assert "killed" in run["failureReason"]
    assert run["endedAt"]
    assert "killed" in shell.ok(f"training runs get {run_id}")
    assert shell.json("training info")["running"] == 0
    assert shell.json("training runs list --phase open")["total"] == 0
    assert shell.json("training runs list --phase FAILED")["total"] == 1
    assert shell("training runs wait lost --exit-status").code == 5
    assert shell("training runs cancel lost --force").code == 1
    recorded = shell.json("training runs metrics lost")["measurements"]
    assert len(recorded) == run["observedStep"]
    assert shell.json("training runs compare lost first --across-plans")["steps"]["compared"] == min(len(recorded), 40)
    for command in ("logs lost", "hparams lost", "snapshots lost", "list"):
        shell.ok(f"training runs {command}")
    (shell.folder / run["folder"] / "summary.json").stat()
    again = shell.start("name=again", wait=True)
    assert shell.ok(["training", "runs", "compare", again, "first", "--jq", ".parting"]) == "null\n"


def test_ctrl_c_ends_the_waiting_and_not_the_run(shell):
    """SIGINT during `wait` is exit 130 without a traceback; the run goes on, until it is cancelled."""
    run_id = training(shell)
    waiting = shell.spawn("training runs wait lost --jq .phase")
    assert run_id in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, "Traceback" in err) == (130, "", False)
    before = shell.json(f"training runs get {run_id}")
    until(lambda: shell.json(f"training runs get {run_id}")["observedStep"] > before["observedStep"], "another step")
    shell.ok("training runs cancel lost --force")
    ended = shell("training runs wait lost --exit-status --jq .phase")
    assert (ended.code, ended.out) == (5, "CANCELLED\n")


def test_time_that_runs_out_is_exit_3_and_the_run_goes_on(shell):
    """`wait --timeout` bounds the waiting alone."""
    training(shell)
    ended = shell("training runs wait lost --timeout 300ms")
    assert (ended.code, ended.out) == (3, "")
    assert "did not end within the time allowed" in ended.err
    assert shell.json("training runs get lost")["phase"] == "TRAINING"


def test_an_engine_that_fails_is_told_with_its_traceback(shell):
    """The run is FAILED with the reason in one sentence; `logs` has the traceback, and the queue goes on."""
    shell.start("name=broken", environ={"AKKA_ARITHMETIC_FAULT": "raise:7@0"})
    shell.start("name=after", "seed=1", wait=True)
    run = shell.json("training runs get broken")
    assert (run["phase"], run["observedStep"]) == ("FAILED", 6)
    assert "made-up fault at update 7" in run["failureReason"]
    assert "Traceback" in shell.ok("training runs logs broken")
    assert shell.json("training runs get after")["phase"] == "COMPLETED"


def test_a_loss_that_is_not_finite_is_never_averaged_away(shell):
    """The window with the NaN parts, for that reason, however wide the margin; no JSON holds a NaN."""
    shell.start("name=nan", wait=True, environ={"AKKA_ARITHMETIC_FAULT": "nan:15"})
    document = shell.json("training runs compare nan first --margin 1000")
    assert document["parting"] == {"firstStep": 11, "lastStep": 20, "meanDifference": None, "reason": "nonFinite"}
    assert document["nonFinite"][0] | {"of": "run"} == document["nonFinite"][0]
    assert shell("training runs compare nan first --exit-status").code == 5
    steps = {at["step"]: at["loss"] for at in shell.json("training runs metrics nan")["measurements"]}
    assert steps[15] is None


def test_a_spike_is_told_apart_from_a_parting(shell):
    """A gradient norm of a thousand times the usual is a spike of that run, and moves no verdict."""
    shell.start("name=spiky", wait=True, environ={"AKKA_ARITHMETIC_FAULT": "spike:15"})
    document = shell.json("training runs compare spiky first")
    assert [(spike["of"], spike["step"]) for spike in document["spikes"]] == [("run", 15)]
    assert document["parting"] is None
