"""A change is shown as the change: from what to what; and several at once are marked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.commands_fake import CHILD, RUN

from akka_optimize.output import text
from akka_optimize.output.formats import Format, render
from akka_optimize.output.view import document
from akka_optimize.output.views import changes
from akka_optimize.output.views.lineage import ANCESTRY, BRANCHES, TREE
from akka_optimize.output.views.run import RUN as RUN_VIEW
from akka_optimize.output.views.run_list import CHANGED, HISTORY
from akka_optimize.records import ChangedRun, Page, RunTree

RATE = {"path": "hyperparams.optimizer.learningRate", "from": 0.0001, "to": 0.0003}
RANK = {"path": "hyperparams.lora.rank", "from": 8, "to": 16}
ONE, TWO, NONE, OLD = (replace(CHILD, changed=changed) for changed in ((RATE,), (RATE, RANK), (), None))


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        pytest.param(RUN, None, id="no-child"),
        pytest.param(ONE, "learningRate 0.0001 -> 0.0003", id="one"),
        pytest.param(TWO, "several at once: learningRate 0.0001 -> 0.0003, rank 8 -> 16", id="two"),
        pytest.param(NONE, "nothing", id="none"),
        pytest.param(OLD, "rank=16", id="of-an-earlier-version"),
    ],
)
def test_a_child_is_told_by_its_change(run, shown):
    """In each list of children, and nowhere the configuration."""
    assert changes.of_child(run) == shown
    cell = shown or text.MISSING
    for view in (BRANCHES, ANCESTRY):
        assert cell in text.render(view, Page((run,), 0, 1)).splitlines()[1]
    if run.parent_run_id is not None:
        assert text.render(TREE, RunTree((RUN, run))).splitlines()[2].endswith(cell)


@pytest.mark.parametrize(("run", "several"), [(RUN, False), (ONE, False), (TWO, True), (NONE, False), (OLD, False)])
@pytest.mark.parametrize("view", [RUN_VIEW, BRANCHES, ANCESTRY, HISTORY], ids=lambda view: view.name)
def test_several_changes_are_a_field(view, run, several):
    """Beside all of them, as they are in the record."""
    found = document(view, run)
    assert tuple(found) == view.names
    assert found["severalChanges"] is several
    assert found["changed"] == (None if run.changed is None else list(run.changed))


def test_a_block_names_each_change_by_its_path():
    """A line for each, and under several what they do to a comparison."""
    shown = text.render(RUN_VIEW, TWO)
    assert "Changes          hyperparams.optimizer.learningRate: 0.0001 -> 0.0003\n" in shown
    assert "                 hyperparams.lora.rank: 8 -> 16\n" in shown
    assert "2 at once: a comparison with the parent cannot tell which one did what" in shown
    assert "at once" not in text.render(RUN_VIEW, ONE)
    assert "Changes          hyperparams.lora.rank: 16\n" in text.render(RUN_VIEW, OLD)


SOURCE = {"weights": "abcdef" + "0" * 58, "restore": "weights"}


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        pytest.param([{"path": "seed", "from": None, "to": 1}], "seed none -> 1", id="absent"),
        pytest.param(
            [{"path": "a.rank", "from": 1, "to": 2}, {"path": "b.rank", "from": 1, "to": 2}],
            "a.rank 1 -> 2, b.rank 1 -> 2",
            id="one-word-twice",
        ),
        pytest.param(
            [{"path": "dataset", "from": "a" * 64, "to": "b" * 64}], f"dataset {'a' * 12} -> {'b' * 12}", id="hashes"
        ),
        pytest.param(
            [{"path": "source", "from": None, "to": SOURCE}], "source none -> weights of abcdef000000", id="source"
        ),
        pytest.param(
            [{"path": "source.weights", "from": "a" * 64, "to": "b" * 64}],
            f"source.weights {'a' * 12} -> {'b' * 12}",
            id="another-source",
        ),
        pytest.param([{"path": "x.y", "from": {"z": 1}, "to": [True]}], 'y {"z": 1} -> [true]', id="any-value"),
        pytest.param([{"path": "a.a", "from": 1, "to": 2}, {"path": "a", "from": 1, "to": 2}], None, id="inside"),
    ],
)
def test_names_are_short_and_tell_the_changes_apart(changed, shown):
    """The last words of a path; values as JSON, hashes by their first digits."""
    told = changes.each(changed)
    assert len(set(told)) == len(changed)
    assert shown is None or ", ".join(told) == shown


def test_runs_beside_one_show_their_differences():
    """The reference itself, equal plans and several choices at once are said in words; in JSON there are two fields."""
    records = (
        ChangedRun(RUN, (), several=False, itself=True),
        ChangedRun(CHILD, (), several=False, itself=False),
        ChangedRun(CHILD, (RATE,), several=False, itself=False),
        ChangedRun(CHILD, (RATE, RANK), several=True, itself=False),
    )
    lines = text.render(CHANGED, Page(records, 0, 4)).splitlines()[1:]
    ends = ["(the run itself)", "none", "learningRate 0.0001 -> 0.0003", "several at once: learningRate 0.0001 -> "]
    for line, end in zip(lines, ends, strict=True):
        assert end in line
    found = document(CHANGED, records[3])
    assert tuple(found) == CHANGED.names
    assert (found["runId"], found["differences"], found["severalDifferences"]) == (CHILD.run_id, [RATE, RANK], True)


def test_a_workloads_history_shows_both_validation_losses():
    """The newest and the best, in the order of time, and every field in JSON."""
    run = replace(RUN, validation_loss=1.5, best_validation_loss=1.25)
    headings, row = text.render(HISTORY, Page((run,), 0, 1)).splitlines()
    assert headings.split("  ")[0] == "CREATED"
    assert "VALIDATION LOSS" in headings
    assert "1.5" in row
    assert "1.25" in row
    assert render(Format("json"), HISTORY, Page((run,), 0, 1)) == render(Format("json"), RUN_VIEW, Page((run,), 0, 1))
