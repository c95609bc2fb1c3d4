"""Submissions that something happens to: whatever it is, no child is lost and none is there twice."""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import pytest
from support import life, parents, processes
from support.homes import CommandLine

from akka_optimize.trainer import branches, disk, recover
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

RATE = parents.RATE
KILLED_COMMAND = """
import os, signal, sys
from akka_optimize.trainer import branches
really = branches.submit
def submit(*arguments):
    {before}
    told = really(*arguments)
    {after}
    return told
branches.submit = submit
from akka_optimize.cli.main import main
sys.argv = ["akka-optimize", *sys.argv[1:]]
main()
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
KILLED_WORKER = """
import os, signal, sys
from akka_optimize.trainer import claims
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home
home = Home.open(sys.argv[1])
if sys.argv[2] == "claimed":
    claims._name = lambda run: os.kill(os.getpid(), signal.SIGKILL)
claims.take(Catalog.open(home), home)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def snapshot(trainer):
    """What a run of 20 updates saved in its middle."""
    return trainer[0].snapshots(parents.trained(*trainer).run_id).items[1]


@pytest.fixture
def workerless(trainer):
    """Keep the home's worker from being started, so that children wait."""
    with trainer[1].lock("worker-0") as lock:
        assert lock is not None
        yield


def grid(folder, rates):
    """A grid of learning rates, and the options that name it."""
    path = folder / f"{len(rates)}-{rates[0]}.json"
    path.write_text(json.dumps({"axes": [{"path": RATE, "values": rates}]}))
    return str(path)


def sweep(snapshot, path, token):
    """The command line of a submission."""
    words = ["training", "runs", "sweep", snapshot.run_id, "--snapshot", snapshot.snapshot_id, "--steps", "5"]
    return [*words, "--grid", path, "--submission-id", token, "--force", "--jq", ".points[].childRunId"]


def harness(*arguments):
    """What the module of faults prints, as JSON."""
    printed = subprocess.run(
        [sys.executable, "-m", "support.submission_faults", *arguments],
        env={"PYTHONPATH": processes.PATH, "OMP_NUM_THREADS": "1", "PATH": ""},
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return json.loads(printed.stdout)


def test_a_submission_killed_anywhere_is_sent_again():
    """Before, in and after the transaction: all 50 children or none, then all 50, each with its folder, none twice."""
    outcomes = harness("--json")
    stages = [outcome["stage"].split(",")[0] for outcome in outcomes]
    for stage in ("write unfinished.json", "mkdir folder beside", "rename folder beside", "insert into runs", "commit"):
        assert stage in stages
    for outcome in outcomes:
        told = (outcome["again"], outcome["doubled"], outcome["wrong"])
        assert told == (50, 0, None), outcome
        committed = outcome["stage"].split(",")[0] in ("committed", "remove unfinished.json", "end")
        assert committed <= (outcome["after"] == 50), outcome


def test_a_deletion_killed_anywhere_has_happened_or_has_not():
    """The run is there with its whole folder, or neither is."""
    outcomes = harness("deletions")
    assert {there for _, there, _ in outcomes} == {True, False}
    for stage, there, wrong in outcomes:
        assert wrong == [], stage
        if stage.split(",")[0] in ("committed", "rmtree folder beside", "end"):
            assert not there, stage


def test_a_start_killed_anywhere_has_happened_or_has_not():
    """The run is there with its whole folder, or neither is: the next opening sweeps what no run claims."""
    outcomes = harness("starts")
    assert [(stage, wrong) for stage, _, wrong in outcomes if wrong] == []
    stages = [stage.split(",")[0] for stage, _, _ in outcomes]
    assert [runs for _, runs, _ in outcomes] == [int(number > stages.index("commit")) for number in range(len(stages))]


@pytest.mark.parametrize(
    ("before", "after", "stored"),
    [pytest.param(KILL, "", 0, id="before-submitting"), pytest.param("", KILL, 50, id="before-printing")],
)
def test_the_command_killed_and_repeated(trainer, snapshot, workerless, tmp_path, before, after, stored):
    """The same command with its token prints 50 ids, which are all that there are."""
    catalog, home = trainer
    shell = CommandLine(home.path)
    words = sweep(snapshot, grid(tmp_path, [n * 1e-6 for n in range(1, 51)]), "token")
    code = KILLED_COMMAND.format(before=before, after=after or "pass")
    killed = subprocess.run(
        [sys.executable, "-c", code, *words], env=shell.variables(), capture_output=True, text=True, check=False
    )
    assert (killed.returncode, killed.stdout) == (-9, "")
    assert catalog.branches(snapshot.run_id).total == stored
    ids = shell.ok(words).split()
    assert len(set(ids)) == len(ids) == 50
    assert {run.run_id for run in catalog.branches(snapshot.run_id, limit=100).items} == set(ids)
    assert shell.ok(words).split() == ids


def test_two_commands_with_one_token_at_once(trainer, snapshot, workerless, tmp_path):
    """Both print the same 50 ids."""
    shell = CommandLine(trainer[1].path)
    words = sweep(snapshot, grid(tmp_path, [n * 1e-6 for n in range(1, 51)]), "token")
    spawned = [shell.spawn(words) for _ in range(2)]
    ended = [process.communicate(timeout=60) for process in spawned]
    assert [process.returncode for process in spawned] == [0, 0], ended
    assert ended[0][0] == ended[1][0]
    assert len(set(ended[0][0].split())) == 50
    assert trainer[0].branches(snapshot.run_id).total == 50


def test_two_commands_with_thirty_points_each_at_once(trainer, snapshot, workerless, tmp_path):
    """One is refused, with how many there are; never 60."""
    shell = CommandLine(trainer[1].path)
    rates = [[n * 1e-6 for n in range(first, first + 30)] for first in (1, 31)]
    spawned = [shell.spawn(sweep(snapshot, grid(tmp_path, each), f"token-{each[0]}")) for each in rates]
    ended = [process.communicate(timeout=60) for process in spawned]
    assert sorted(process.returncode for process in spawned) == [0, 1], ended
    ((out, err),) = [said for said, process in zip(ended, spawned, strict=True) if process.returncode]
    assert out == ""
    assert "30 branches exist (30 QUEUED); 30 more make 60" in err
    assert trainer[0].branches(snapshot.run_id).total == 30


@pytest.mark.parametrize("when", ["claimed", "locked"])
def test_a_worker_killed_between_claim_and_first_update(trainer, snapshot, when):
    """The child is FAILED and can be resumed, its siblings are trained, and the same submission reaches all three."""
    catalog, home = trainer
    asked = parents.asked(snapshot, *parents.rates(3))
    ids = [point.child_run_id for point in branches.submit(catalog, home, asked).points]
    killed = subprocess.run([sys.executable, "-c", KILLED_WORKER, str(home.path), when], check=False)
    assert killed.returncode == -9
    assert [run.run_id for run in catalog.active()] == ids[:1]
    recover.recover(catalog, home)
    for run_id in ids[1:]:
        assert parents.carry_out(catalog, home).run_id == run_id
    told = branches.submit(catalog, home, asked).points
    assert [(point.existing, point.phase, point.resumable) for point in told] == [
        (True, "FAILED", True),
        (True, "COMPLETED", False),
        (True, "COMPLETED", False),
    ]
    assert catalog.run(ids[0]).failure_code == "WORKER_LOST"
    assert catalog.branches(snapshot.run_id).total == 3


def test_a_disk_that_fills_up_while_a_child_saves(trainer, snapshot, monkeypatch):
    """That child is PAUSED, and waits to be resumed; the next one is trained, and both hold their source."""
    catalog, home = trainer
    asked = parents.asked(snapshot, *parents.rates(2))
    ids = [point.child_run_id for point in branches.submit(catalog, home, asked).points]
    with monkeypatch.context() as full:
        full.setattr(disk, "write_new", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
        first = parents.carry_out(catalog, home)
    assert (first.run_id, first.phase, first.failure_code) == (ids[0], "PAUSED", "DISK_FULL")
    assert parents.carry_out(catalog, home).phase == "COMPLETED"
    assert catalog.snapshot(snapshot.snapshot_id).held_by == tuple(ids)


def test_a_clock_that_jumps_back_loses_and_doubles_nothing(trainer, snapshot):
    """Children of an earlier hour are queued after those of a later one, and are reached all the same."""
    catalog, home = trainer
    first = branches.submit(catalog, home, parents.asked(snapshot, *parents.rates(2)))
    with Catalog.open(Home.open(home.path), now=lambda: "2001-01-01T00:00:00.000Z") as earlier:
        told = branches.submit(earlier, home, parents.asked(snapshot, *parents.rates(4)))
    assert [point.existing for point in told.points] == [True, True, False, False]
    assert told.points[0].child_run_id == first.points[0].child_run_id
    claimed = [catalog.claim() for _ in range(4)]
    assert [run.run_id for run in claimed if run] == [point.child_run_id for point in told.points]
