"""Runs that travel: from one home into another, by nothing but their folders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from support.homes import RATE, CommandLine
from support.service import served

from akka_optimize.trainer.servicer import Servicer

SAVES = ("execution.saveEvery=10", "execution.keepAdapters=2", "execution.keepTrainingStates=1")


class Lineage:
    """A home with a parent, its child, and a third run at another rate."""

    def __init__(self, folder: Path) -> None:
        self.shell = CommandLine(folder).prepare()
        self.parent = self.shell.start(*SAVES, "name=parent", "purpose=to have a child")
        self.other = self.shell.start(f"{RATE}=1e-3", wait=True)
        snapshots = self.shell.json(f"training runs snapshots {self.parent}")["snapshots"]
        branch = f"training runs branch {self.parent} --snapshot {snapshots[1]['snapshotId']} --steps 30 --force"
        self.child = self.shell.ok(f"{branch} --jq .runId").strip()
        self.shell.ok(f"training runs wait {self.child} -q")


@pytest.fixture(scope="module")
def lineage(tmp_path_factory: pytest.TempPathFactory) -> Lineage:
    """Runs that nobody changes."""
    return Lineage(tmp_path_factory.mktemp("lineage") / "home")


@contextmanager
def reached(folder: Path, *, over_grpc: bool) -> Iterator[CommandLine]:
    """A shell whose trainer has its home at `folder`: in its own process, or behind gRPC."""
    shell = CommandLine(folder)
    if not over_grpc:
        yield shell
        return
    with closing(Servicer.opened(folder, backend="server")) as servicer, served(servicer) as host:
        shell.environ = {"TRAINER_URL": f"http://{host}"}
        yield shell


def compared(shell: CommandLine, run: str, baseline: str) -> str:
    """What `compare` prints, whole."""
    return shell.ok(["training", "runs", "compare", run, baseline, "--across-plans", "-o", "json"])


@pytest.mark.parametrize("over_grpc", [False, True], ids=["local", "grpc"])
def test_runs_of_another_home_compare_as_they_did_there(lineage: Lineage, tmp_path: Path, over_grpc: bool) -> None:
    """Exported, and imported into a fresh home, runs give the comparison that they gave before, byte for byte."""
    directory = str(tmp_path / "records")
    with reached(lineage.shell.folder, over_grpc=over_grpc) as there:
        for run in (lineage.child, lineage.other):
            there.ok(["training", "runs", "export", run, directory])
        before = [compared(there, run, lineage.parent) for run in (lineage.child, lineage.other)]
    with reached(tmp_path / "fresh", over_grpc=over_grpc) as here:
        here.ok(["training", "runs", "import", directory])
        assert [compared(here, run, lineage.parent) for run in (lineage.child, lineage.other)] == before
        listed = here.json("training runs list")["runs"]
    assert [run["runId"] for run in listed] == [lineage.child, lineage.other, lineage.parent]


def test_curves_settings_and_lineage_travel(lineage: Lineage, tmp_path: Path) -> None:
    """Every other reading command prints of each run what it printed before, but for times a moment apart."""
    lineage.shell.ok(["training", "runs", "export", lineage.child, str(tmp_path / "records")])
    fresh = CommandLine(tmp_path / "fresh")
    fresh.ok(["training", "runs", "import", str(tmp_path / "records")])
    for run in (lineage.parent, lineage.child):
        for what in (f"metrics {run} -o csv", f"hparams {run} -o json", f"logs {run}"):
            assert fresh.ok(f"training runs {what}") == lineage.shell.ok(f"training runs {what}")
        for what in ("engine-config", "engine-runtime"):
            assert fresh.json(f"training runs {what} {run}") == lineage.shell.json(f"training runs {what} {run}")
        for what, key in (("ancestry", "runs"), ("tree", "runs"), ("snapshots", "snapshots")):
            theirs, ours = (each.json(f"training runs {what} {run}")[key] for each in (lineage.shell, fresh))
            assert [untimed(each) for each in ours] == [untimed(each) for each in theirs]


def untimed(document: dict[str, object]) -> dict[str, object]:
    """A document without the times that a catalog gives by itself."""
    return {name: value for name, value in document.items() if name not in ("createdAt", "endedAt")}


def test_an_imported_run_goes_on(lineage: Lineage, tmp_path: Path) -> None:
    """A child that branches here trains what its twin trained there: the two compare equal at every step."""
    lineage.shell.ok(["training", "runs", "export", lineage.child, str(tmp_path / "records")])
    fresh = CommandLine(tmp_path / "fresh")
    fresh.ok(["training", "runs", "import", str(tmp_path / "records")])
    source = fresh.json(f"training runs get {lineage.child}")["sourceSnapshotId"]
    branch = f"training runs branch {lineage.parent} --snapshot {source} --steps 30 --force --jq .runId"
    twin = fresh.ok(branch).strip()
    assert twin != lineage.child
    fresh.ok(f"training runs wait {twin} -q")
    found = fresh.json(f"training runs compare {twin} {lineage.child}")
    assert (found["steps"]["compared"], found["overall"]["maxAbsWindow"]) == (30, 0)
