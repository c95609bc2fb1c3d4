"""A fan from one snapshot, through the whole program: previewed, submitted, reached again, widened, compared."""

from __future__ import annotations

import json
import re
from itertools import product

import pexpect
import pytest
from support.homes import PROGRAM, CommandLine

from akka_optimize.core.points import child_run_id

RATES, RANKS = [1.0e-5, 5.0e-5, 2.0e-4], [8, 16]
GRID = """
axes:
  - path: hyperparams.optimizer.learningRate
    values: [1.0e-5, 5.0e-5, 2.0e-4]
  - path: hyperparams.lora.rank
    values: [8, 16]
"""
EXCHANGED = """
axes:
  - {path: hyperparams.lora.rank, values: [16, 8]}
  - {path: hyperparams.optimizer.learningRate, values: [2.0e-4, 0.00001, 5.0e-5]}
"""
POINTS = [
    {"hyperparams.optimizer.learningRate": rate, "hyperparams.lora.rank": rank} for rate, rank in product(RATES, RANKS)
]


class Fan(CommandLine):
    """A home with two finished parents of one workload, each with a snapshot."""

    def ready(self) -> Fan:
        """Make the parents."""
        self.prepare()
        self.parent = self.start("name=parent")
        self.start("name=other", "seed=1", wait=True)
        self.snapshot, self.elsewhere = (
            self.ok(["training", "runs", "snapshots", name, "--jq", ".snapshots[0].snapshotId"]).strip()
            for name in ("parent", "other")
        )
        return self

    def words(self, *more: str, parent: str = "parent", snapshot: str | None = None, steps: str = "5") -> list[str]:
        """A sweep of `parent` with its grid on stdin."""
        at = ["--snapshot", snapshot or self.snapshot[:12], "--steps", steps]
        return ["training", "runs", "sweep", parent, *at, "--grid", "-", *more]

    def sweep(self, *more: str, grid: str = GRID, **at: str) -> dict:
        """The document of a sweep that has to succeed."""
        return self.json(self.words("-q", *more, **at), stdin=grid)

    def settled(self) -> None:
        """Every child has ended, so that nothing changes any more."""
        for child in self.ok("training runs list --phase open --jq .runs[].runId").split():
            self.ok(f"training runs wait {child} -q --jq .phase")

    def children(self) -> set[str]:
        """Every run that branched from the parent."""
        return set(self.ok("training runs tree parent --jq .runs[1:][].runId").split())


@pytest.fixture(scope="module")
def fan(tmp_path_factory) -> Fan:
    return Fan(tmp_path_factory.mktemp("fan") / "home").ready()


def test_a_fan_from_preview_to_comparison(fan):
    """The ids of the dry run are those that exist afterwards; again makes none, one value more makes its points only,
    exchanged axes make none; and two children differ by what their points set."""
    preview = fan.sweep("--dry-run", "--submission-id", "story")
    ids = [point["childRunId"] for point in preview["points"]]
    assert ids == [child_run_id("story", point) for point in POINTS]
    assert [point["changes"] for point in preview["points"]] == POINTS
    assert (fan.children(), preview["fan"]) == (set(), {"existing": 0, "new": 6, "total": 6, "limit": 50})

    assert fan.ok(fan.words("--force", "--submission-id", "story", "--jq", ".points[].childRunId"), stdin=GRID) == (
        "".join(f"{child}\n" for child in ids)
    )
    assert fan.children() == set(ids)

    again = fan.sweep("--force", "--submission-id", "story")
    assert (again["fan"]["new"], fan.children()) == (0, set(ids))
    exchanged = fan.sweep("--force", "--submission-id", "story", grid=EXCHANGED)
    assert (exchanged["fan"]["new"], fan.children()) == (0, set(ids))
    wider = fan.sweep("--force", "--submission-id", "story", grid=GRID.replace("[8, 16]", "[8, 16, 32]"))
    assert (wider["fan"]["new"], len(fan.children())) == (3, 9)
    assert [point["existing"] for point in wider["points"]] == [True, True, False] * 3

    for child in fan.children():
        assert fan.ok(f"training runs wait {child} --exit-status -q --jq .phase") == "COMPLETED\n"
    refused = fan(f"training runs compare {ids[0]} {ids[3]}")
    assert refused.code == 1
    assert re.findall(r"^ +(hyperparams\.\S+):", refused.err, re.M) == [
        "hyperparams.lora.rank",
        "hyperparams.optimizer.learningRate",
    ]
    from_parent = fan.json(f"training runs compare {ids[1]} parent --across-plans")["plan"]
    assert {each["path"] for each in from_parent["differences"]} == {
        "hyperparams.lora.rank",
        "hyperparams.optimizer.learningRate",
        "hyperparams.training.steps",
        "source",
    }
    assert from_parent["alignedSteps"] is False


def test_an_override_document_and_the_equal_point_have_one_plan(fan):
    """`branch` and `sweep` are two ways to write one change."""
    swept = fan.sweep("--dry-run", grid="axes: [{path: hyperparams.lora.rank, values: [4]}]")["points"][0]
    at = ["--snapshot", fan.snapshot[:12], "--steps", "5", "--dry-run", "-q"]
    branched = fan.json(
        ["training", "runs", "branch", "parent", *at, "--overrides", "-"],
        stdin='{"hyperparams": {"lora": {"rank": 4}}}',
    )
    assert branched["configHash"] == swept["configHash"]
    assert branched["resolved"]["config"] == swept["resolved"]["config"]


def test_a_submission_is_asked_for_at_a_terminal(fan, tmp_path):
    """`y` submits; without a terminal nothing is submitted, and the error names --force."""
    (tmp_path / "grid.yaml").write_text("axes: [{path: hyperparams.lora.dropout, values: [0.25, 0.5]}]")
    argv = ["training", "runs", "sweep", "parent", "--snapshot", fan.snapshot[:12], "--steps", "5"]
    argv += ["--grid", str(tmp_path / "grid.yaml")]
    before = fan.children()
    nobody = fan(argv)
    assert (nobody.code, nobody.out, fan.children()) == (2, "", before)
    assert "--force" in nobody.err
    child = pexpect.spawn(PROGRAM, argv, env=fan.variables(TERM="xterm"), encoding="utf-8", timeout=60)
    child.expect(r"Submit 2 child runs of 5 updates each\? \[y/N\] ")
    child.sendline("y")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, len(fan.children() - before)) == (0, 2)


def test_the_token_is_told_before_the_first_request(fan):
    """Under a token of ours, stderr has it although the trainer refuses everything."""
    ended = fan(fan.words("--force", snapshot="feedfeedfeed"), stdin=GRID)
    assert (ended.code, ended.out) == (1, "")
    assert re.match(r"Submission token [0-9a-f]{32}: ", ended.err)


BAD = [
    pytest.param([], {"snapshot": "feedfeedfeed"}, GRID, "no snapshot", id="snapshot-unknown"),
    pytest.param([], {"parent": "nobody"}, GRID, "nobody", id="parent-unknown"),
    pytest.param(["--restore", "trainingState"], {}, GRID, "hyperparams.lora.rank", id="an-axis-beside-the-rate"),
    pytest.param([], {}, GRID.replace("[8, 16]", "[8, 0, 999, x]"), "999", id="every-faulty-value"),
    pytest.param([], {}, f"axes: [{{path: seed, values: {list(range(51))}}}]", "51", id="51-points"),
    pytest.param([], {}, "axes: [{path: hyperparams.training.maxSteps, values: [3]}]", "--steps", id="the-horizon"),
    pytest.param([], {}, "axes: [{path: execution.gpus, values: [1]}]", "execution", id="execution"),
]


@pytest.mark.parametrize("dry", ["--dry-run", "--force"])
@pytest.mark.parametrize(("more", "at", "grid", "fragment"), BAD)
def test_what_is_refused_changes_nothing(fan, more, at, grid, fragment, dry):
    """A preview and a submission are refused alike: exit 1, the culprit named, nothing printed, nothing stored."""
    fan.settled()
    before = fan.state()
    ended = fan(fan.words(*more, dry, "--submission-id", "bad", **at), stdin=grid)
    assert (ended.code, ended.out) == (1, ""), ended.err
    assert fragment in ended.err
    assert "Traceback" not in ended.err
    assert fan.state() == before


def test_all_faulty_points_are_told_together(fan):
    """Each wrong value is named, not the first one alone."""
    ended = fan(fan.words("--dry-run"), stdin=GRID.replace("[8, 16]", "[8, 0, 999, x]"))
    assert all(value in ended.err for value in ("0", "999", '"x"'))


def test_a_snapshot_of_another_run_is_refused(fan):
    """It exists, and is not the parent's."""
    ended = fan(fan.words("--dry-run", snapshot=fan.elsewhere[:12]), stdin=GRID)
    assert (ended.code, ended.out) == (1, "")
    assert "other" in ended.err or fan.elsewhere[:12] in ended.err


def test_one_dataset_under_two_names_is_one_value(fan):
    """Two points that come to one plan would train it twice; they are refused, both named."""
    found = fan.json("datasets list")["datasets"][0]
    grid = f"axes: [{{path: dataset, values: [{found['names'][0]}, '{found['hash']}']}}]"
    ended = fan(fan.words("--force", "--submission-id", "twice"), stdin=grid)
    assert (ended.code, ended.out) == (1, "")
    assert "come to one plan" in ended.err


@pytest.mark.parametrize(
    ("more", "at", "differs"),
    [
        pytest.param([], {"steps": "6"}, "steps", id="steps"),
        pytest.param(["--restore", "trainingState"], {}, "restore", id="restore"),
        pytest.param([], {"parent": "other"}, "parent", id="parent"),
    ],
)
def test_a_token_belongs_to_what_it_was_used_for(fan, more, at, differs):
    """Under another parent, snapshot, number of steps or restore mode it is refused, and what differs is named."""
    grid = "axes: [{path: hyperparams.optimizer.learningRate, values: [3.0e-4]}]"
    fan.sweep("--force", "--submission-id", "bound", grid=grid)
    before = fan.children()
    if "parent" in at:
        at = at | {"snapshot": fan.elsewhere[:12]}
    ended = fan(fan.words("--force", "--submission-id", "bound", *more, **at), stdin=grid)
    assert (ended.code, ended.out, fan.children()) == (1, "", before)
    assert differs in ended.err


def test_room_is_counted_with_the_children_that_are_there(tmp_path):
    """50 children of one snapshot are the most, in whatever phase; the refusal says how many there are."""
    fan = Fan(tmp_path / "home").ready()
    seeds = json.dumps(list(range(2, 32)))
    fan.sweep("--force", "--submission-id", "thirty", grid=f"axes: [{{path: seed, values: {seeds}}}]", steps="1")
    ended = fan(
        fan.words("--force", "--submission-id", "more", steps="1"),
        stdin=f"axes: [{{path: seed, values: {json.dumps(list(range(100, 121)))}}}]",
    )
    assert (ended.code, ended.out) == (1, "")
    assert "30" in ended.err
    assert len(fan.children()) == 30
    assert fan.ok("training runs cancel --submission thirty --force --jq .total") == "30\n"
