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
FAULTS = {"AKKA_ARITHMETIC_FAULT": "raise:7@1,nan:15@2,spike:15@3"}
LONG = "hyperparams.training.maxSteps=10000"


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Iterator[CommandLine]:
    """A home with three finished runs, and three whose engine misbehaved; no worker outlives the module."""
    shell = CommandLine(tmp_path_factory.mktemp("workers") / "home").prepare()
    for name, seed in (("first", 0), ("nan-free", 2), ("calm", 3)):
        shell.start(f"name={name}", f"seed={seed}", wait=name == "calm")
    until(lambda: not workers(shell), "the worker to leave")
    for name, seed in (("broken", 1), ("nan", 2), ("spiky", 3)):
        shell.start(f"name={name}", f"seed={seed}", wait=name == "spiky", environ=FAULTS)
    until(lambda: not workers(shell), "the worker to leave")
    yield shell
    for pid in workers(shell):
        os.kill(pid, signal.SIGKILL)


def workers(shell: CommandLine) -> list[int]:
    """The processes that work on this home."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], check=True, capture_output=True, text=True).stdout
    lines = (line.split(maxsplit=1) for line in listed.splitlines())
    return [int(pid) for pid, args in lines if f"akka_optimize.trainer.worker {shell.folder}" in args]


def training(shell: CommandLine, name: str) -> str:
    """A run that has recorded some steps and has many before it; its id."""
    run_id = shell.start(f"name={name}", LONG, environ=SLOW)
    until(lambda: shell.json(f"training runs get {run_id}")["observedStep"] > 0, "the first recorded step")
    return run_id


def test_a_worker_that_is_killed_leaves_a_failed_run(shell):
    """kill -9 in mid-run: at the next command the run is FAILED with a reason, and every other command works."""
    run_id = training(shell, "lost")
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
    assert run_id in [failed["runId"] for failed in shell.json("training runs list --phase FAILED")["runs"]]
    assert shell("training runs wait lost --exit-status").code == 5
    assert shell("training runs cancel lost --force").code == 1
    recorded = shell.json("training runs metrics lost")["measurements"]
    assert len(recorded) == run["observedStep"]
    assert shell.json("training runs compare lost first --across-plans")["steps"]["compared"] == min(len(recorded), 40)
    for command in ("logs lost", "hparams lost", "snapshots lost", "list"):
        shell.ok(f"training runs {command}")
    assert (shell.folder / run["folder"] / "summary.json").is_file()
    again = shell.start("name=again", wait=True)
    assert shell.ok(["training", "runs", "compare", again, "first", "--jq", ".parting"]) == "null\n"


def test_who_stops_watching_does_not_stop_the_run(shell):
    """Ctrl-C during `wait` is exit 130 without a traceback, time that runs out is exit 3; the run goes on all the same.

    It ends when it is cancelled, which is an answer of "no" to who waits for it.
    """
    run_id = training(shell, "watched")
    waiting = shell.spawn("training runs wait watched --jq .phase")
    assert run_id in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, "Traceback" in err) == (130, "", False)
    ended = shell("training runs wait watched --timeout 300ms")
    assert (ended.code, ended.out) == (3, "")
    assert f"run {run_id} goes on" in ended.err
    before = shell.json(f"training runs get {run_id}")
    assert before["phase"] == "TRAINING"
    until(lambda: shell.json(f"training runs get {run_id}")["observedStep"] > before["observedStep"], "another step")
    shell.ok("training runs cancel watched --force")
    ended = shell("training runs wait watched --exit-status --jq .phase")
    assert (ended.code, ended.out) == (5, "CANCELLED\n")


def test_an_engine_that_fails_is_told_with_its_traceback(shell):
    """The run is FAILED with the reason in one sentence; `logs` has the traceback, and the queue went on."""
    run = shell.json("training runs get broken")
    assert (run["phase"], run["observedStep"]) == ("FAILED", 6)
    assert "made-up fault at update 7" in run["failureReason"]
    assert "Traceback" in shell.ok("training runs logs broken")
    assert shell.json("training runs get spiky")["phase"] == "COMPLETED"


def test_a_loss_that_is_not_finite_is_never_averaged_away(shell):
    """The window with the NaN parts, for that reason, however wide the margin; no JSON holds a NaN."""
    document = shell.json("training runs compare nan nan-free --margin 1000")
    assert document["parting"] == {"firstStep": 11, "lastStep": 20, "meanDifference": None, "reason": "nonFinite"}
    assert [(found["of"], found["value"], found["firstStep"]) for found in document["nonFinite"]] == [
        ("run", "NaN", 15)
    ]
    assert shell("training runs compare nan nan-free --exit-status").code == 5
    steps = {at["step"]: at["loss"] for at in shell.json("training runs metrics nan")["measurements"]}
    assert steps[15] is None


def test_a_spike_is_told_apart_from_a_parting(shell):
    """A gradient norm of a thousand times the usual is a spike of that run, and moves no verdict."""
    document = shell.json("training runs compare spiky calm")
    assert [(spike["of"], spike["step"]) for spike in document["spikes"]] == [("run", 15)]
    assert document["parting"] is None
