"""A sweep as JSON and as text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.fans import PARENT, SNAPSHOT, FanTrainer

from akka_optimize.core.grid import points
from akka_optimize.output.view import document
from akka_optimize.output.views.branch import BRANCH
from akka_optimize.output.views.sweep import SWEEP, to_text
from akka_optimize.records import Axis, FanRequest, Sweep

AXES = (Axis("hyperparams.optimizer.learningRate", (1e-5, 1)), Axis("hyperparams.lora.rank", (8,)))


def swept(children=(), *, dry_run=True, **changed):
    """Two points; `children` are the phases of the first points' children, None for one that is not there."""
    asked = FanRequest(PARENT, "3f2a", 200, "weights", "t", tuple(points(AXES)))
    ids = [point.child_run_id for point in FanTrainer().validate_branches(asked).points]
    trainer = FanTrainer({child: phase for child, phase in zip(ids, children, strict=False) if phase})
    fan = trainer.validate_branches(asked) if dry_run else trainer.submit_branches(asked)
    first = replace(fan.points[0], **changed)
    return Sweep(replace(fan, points=(first, *fan.points[1:])), AXES, dry_run, "akka-optimize training runs next")


def test_json_holds_the_whole_sweep():
    """Names and nesting are a contract; a point's values are in their fields' types, an axis's as written."""
    sweep = swept([None, "FAILED"])
    first, second = sweep.branches.points
    assert document(SWEEP, sweep) == {
        "parentRunId": PARENT,
        "snapshotId": SNAPSHOT,
        "restore": "weights",
        "steps": 200,
        "submissionId": "t",
        "dryRun": True,
        "axes": [
            {"path": "hyperparams.optimizer.learningRate", "values": [1e-5, 1]},
            {"path": "hyperparams.lora.rank", "values": [8]},
        ],
        "points": [
            {
                "index": 0,
                "label": "learningRate=1e-05, rank=8",
                "changes": {"hyperparams.optimizer.learningRate": 1e-5, "hyperparams.lora.rank": 8},
                "childRunId": first.child_run_id,
                "existing": False,
                "configHash": first.config_hash,
                "resolved": {
                    "config": {"hyperparams": {"optimizer": {"learningRate": 1e-5}, "lora": {"rank": 8}}},
                    "execution": {"gpus": 1},
                    "restoreError": None,
                },
                "phase": None,
            },
            {
                "index": 1,
                "label": "learningRate=1.0, rank=8",
                "changes": {"hyperparams.optimizer.learningRate": 1.0, "hyperparams.lora.rank": 8},
                "childRunId": second.child_run_id,
                "existing": True,
                "configHash": second.config_hash,
                "resolved": {
                    "config": {"hyperparams": {"optimizer": {"learningRate": 1.0}, "lora": {"rank": 8}}},
                    "execution": {"gpus": 1},
                    "restoreError": None,
                },
                "phase": "FAILED",
            },
        ],
        "fan": {"existing": 1, "new": 1, "total": 2, "limit": 50},
        "nextCommand": "akka-optimize training runs next",
        "comparison": None,
    }


def test_the_document_has_the_fields_that_the_view_lists():
    """In their order, so that --json= tells the truth, and as JSON has it."""
    whole = document(SWEEP, swept())
    assert tuple(whole) == SWEEP.names
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole


def test_text_of_a_dry_run():
    """A line for each point, then what holds for all of them, and what to do next."""
    sweep = swept()
    first, second = sweep.branches.points
    assert (
        to_text(sweep)
        == f"""\
POINT  LABEL                       CHILD RUN         PHASE  CONFIG
    0  learningRate=1e-05, rank=8  {first.child_run_id}  new    {first.config_hash}
    1  learningRate=1.0, rank=8    {second.child_run_id}  new    {second.config_hash}

Snapshot   3f2a9c71bd04 of 7d496e82c3a15f04, weights restored
Fan        2 of at most 50 from this snapshot: 0 existing, 2 new
Updates    200 each
Token      t
Submitted  no
Next       akka-optimize training runs next
"""
    )


def test_text_of_a_submission():
    """The phases of the children that there are now, existing ones marked."""
    lines = to_text(swept(["COMPLETED"], dry_run=False)).split("\n")
    assert "Completed (existing)" in lines[1]
    assert "Queued" in lines[2]
    assert "(existing)" not in lines[2]
    assert "Submitted  yes" in lines


@pytest.mark.parametrize(
    ("phases", "advice"),
    [
        pytest.param(["COMPLETED", "TRAINING"], None, id="none-ended-early"),
        pytest.param(["FAILED", None], "1 child run has failed or been cancelled.", id="one-failed"),
        pytest.param(["CANCELLED", "FAILED"], "2 child runs have failed or been cancelled.", id="two-ended"),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_children_that_never_go_on_are_told(phases, advice, dry_run):
    """With what to do: the token reaches them and starts them no more."""
    text = to_text(swept(phases, dry_run=dry_run))
    if advice:
        assert f"{advice} To train such a point after all, sweep it under a new token." in text.split("\n")
    assert text.count("under a new token") == bool(advice)


def test_the_error_of_a_truncated_adapter_is_shown():
    """In a column of its own, where any adapter was cut."""
    lines = to_text(swept(restore_error=0.015625)).split("\n")
    assert lines[0].endswith("CONFIG        RESTORE ERROR")
    assert lines[1].endswith("0.015625")
    assert lines[2].endswith("—")
    assert document(SWEEP, swept(restore_error=0.015625))["points"][0]["resolved"]["restoreError"] == 0.015625


def test_children_that_can_go_on_are_told_how():
    """Each with the command that resumes it; a new token is for the others."""
    sweep = swept(["FAILED", "FAILED"], resumable=True)
    first, second = (point.child_run_id for point in sweep.branches.points)
    text = to_text(sweep)
    assert f"Point 0: resume with: akka-optimize training runs resume {first}" in text.split("\n")
    assert f"resume {second}" not in text
    assert "1 child run has failed or been cancelled." in text
    paused = to_text(swept([None, "PAUSED"]))
    assert f"Point 1: resume with: akka-optimize training runs resume {second}" in paused.split("\n")
    assert "under a new token" not in paused


@pytest.mark.parametrize(("changed", "told"), [({"resumable": True}, True), ({"phase": "PAUSED"}, True), ({}, False)])
def test_a_single_child_that_can_go_on_is_told_how(changed, told):
    """By a dry run of `branch` or `continue` that finds it there."""
    branches = swept(["FAILED"], **changed).branches
    text = BRANCH.to_text(replace(branches, points=branches.points[:1]))
    assert (f"Resume with    akka-optimize training runs resume {branches.points[0].child_run_id}" in text) == told
