"""A number that JSON cannot hold is null there, said to be what it was beside it, and shown by its name in text."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from support.commands_fake import CHILD, EVENT, RUN, SNAPSHOT

from akka_optimize.output.formats import Format, render
from akka_optimize.output.views.event import EVENT as EVENT_VIEW
from akka_optimize.output.views.lineage import ANCESTRY, BRANCHES, TREE
from akka_optimize.output.views.run import RUN as RUN_VIEW
from akka_optimize.output.views.run import SETTINGS
from akka_optimize.output.views.snapshot import SNAPSHOT as SNAPSHOT_VIEW
from akka_optimize.records import RunTree

VALUES = [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")]
SHOWN = [
    pytest.param(RUN_VIEW, RUN, ("loss", "validation_loss"), id="run"),
    pytest.param(SETTINGS, RUN, ("loss", "validation_loss"), id="settings"),
    pytest.param(ANCESTRY, RUN, ("loss", "validation_loss"), id="ancestry"),
    pytest.param(BRANCHES, CHILD, ("loss", "validation_loss"), id="branch"),
    pytest.param(EVENT_VIEW, EVENT, ("loss",), id="event"),
    pytest.param(SNAPSHOT_VIEW, SNAPSHOT, ("validation_loss",), id="snapshot"),
]
NAMES = {"loss": "loss", "validation_loss": "validationLoss"}


def whole(view, record):
    """The JSON document, as it is printed."""
    return json.loads(render(Format("json"), view, record))


@pytest.mark.parametrize(("view", "record", "attributes"), SHOWN)
@pytest.mark.parametrize(("value", "word"), VALUES)
def test_what_was_no_finite_number_is_stated(view, record, attributes, value, word):
    """Null in its place, and `nonFinite` names field and value; the document has the fields that `--json=` lists."""
    document = whole(view, replace(record, **dict.fromkeys(attributes, value)))
    assert tuple(document) == view.names
    assert [document[NAMES[each]] for each in attributes] == [None] * len(attributes)
    assert document["nonFinite"] == [{"field": NAMES[each], "value": word} for each in attributes]


@pytest.mark.parametrize(("view", "record", "attributes"), SHOWN)
@pytest.mark.parametrize("value", [None, 1.25])
def test_numbers_that_are_finite_or_absent_state_nothing(view, record, attributes, value):
    """An empty list, whether there is a loss or none."""
    assert whole(view, replace(record, **dict.fromkeys(attributes, value)))["nonFinite"] == []


def test_every_run_of_a_tree_states_its_own():
    """Beside its depth."""
    found = whole(TREE, RunTree((RUN, replace(CHILD, loss=math.nan))))["runs"]
    assert [run["nonFinite"] for run in found] == [[], [{"field": "loss", "value": "NaN"}]]


@pytest.mark.parametrize(
    ("view", "record", "attributes"), [case for case in SHOWN if case.id in {"run", "branch", "event", "snapshot"}]
)
@pytest.mark.parametrize(("value", "word"), VALUES)
def test_text_shows_the_number_by_its_name(view, record, attributes, value, word):
    """One record and a list of them: neither a dash, nor `nan`, nor `inf`."""
    record = replace(record, **dict.fromkeys(attributes, value))
    shown = [render(Format(), view, record)] + [render(Format(), view, [record])] * (view.plural is not None)
    for text in shown:
        assert word in text
        assert "nan" not in text
        assert "inf" not in text
