"""`training runs branches`, `tree`, `ancestry`: where runs branched."""

from __future__ import annotations

import json
from unittest.mock import call

from support.commands_fake import CHILD, RUN, carry_out


def test_branches_lists_children():
    """A page of children, newest first, is one request."""
    done = carry_out("training runs branches first --limit 10 --offset 2")
    assert done.calls == [call.branches("first", submission_id=None, limit=10, offset=2)]
    assert [run.run_id for run in done.emitted[0].items] == [CHILD.run_id]


def test_branches_of_one_submission():
    """`--submission` narrows the list to one token's children."""
    done = carry_out("training runs branches first --submission token")
    assert done.calls == [call.branches("first", submission_id="token", limit=50, offset=0)]


def test_a_branch_is_named_as_a_child_with_its_budget():
    """`childRunId` and `budgetSteps` stand beside the run's own fields."""
    done = carry_out("training runs branches first --json childRunId,budgetSteps,sourceStep,changes -o json-compact")
    assert json.loads(done.out)["branches"] == [
        {
            "childRunId": CHILD.run_id,
            "budgetSteps": CHILD.steps,
            "sourceStep": 20,
            "changes": {"hyperparams.lora.rank": 16},
        }
    ]


def test_a_tree_is_indented_by_generation():
    """A child stands below its parent, two blanks further in, with the step and the change that it branched by."""
    done = carry_out("training runs tree first --depth 2")
    assert done.calls == [call.descendants("first", depth=2)]
    lines = done.out.splitlines()
    assert lines[1].startswith(RUN.run_id)
    assert lines[2].startswith(f"  {CHILD.run_id}")
    assert lines[2].split()[-2:] == ["20", "rank=16"]


def test_a_tree_in_json_has_depths():
    """Each run knows its generation."""
    done = carry_out(["training", "runs", "tree", "first", "--jq", "[.runs[].depth]"])
    assert done.out == "[0,1]\n"


def test_ancestry_begins_at_the_root():
    """The chain is emitted as it came, root first."""
    done = carry_out(["training", "runs", "ancestry", "c0ff", "--jq", ".runs[0].runId"])
    assert (done.calls, done.out) == ([call.ancestry("c0ff")], f"{RUN.run_id}\n")
