"""A change as the change: from what, to what, and whether it is the only one."""

from __future__ import annotations

import pytest

from akka_optimize.core import plans

PLAN = {
    "seed": 0,
    "source": None,
    "baseModel": {"name": "m", "revision": "r"},
    "hyperparams": {"optimizer": {"learningRate": 1e-4}, "training": {"steps": 40}},
}


def changed(**settings):
    """What a plan with these settings, `a__b` for `a.b`, changes of PLAN."""
    plan = {**PLAN, "hyperparams": {**PLAN["hyperparams"]}}
    for name, value in settings.items():
        *groups, key = name.split("__")
        into = plan
        for group in groups:
            into[group] = dict(into[group])
            into = into[group]
        into[key] = value
    return plans.changed(plan, PLAN)


def test_each_change_says_from_what_to_what():
    """By path, in the types of the plan."""
    assert changed(hyperparams__optimizer__learningRate=3e-4, seed=1) == [
        {"path": "hyperparams.optimizer.learningRate", "from": 1e-4, "to": 3e-4},
        {"path": "seed", "from": 0, "to": 1},
    ]


def test_source_and_horizon_are_no_choice():
    """A child has others whatever it changes."""
    source = {"weights": "0" * 64, "restore": "weights"}
    found = changed(source=source, hyperparams__training__steps=10, seed=1)
    assert {each["path"] for each in found} == {"hyperparams.training.steps", "seed", "source"}
    assert [each["path"] for each in plans.choices(found)] == ["seed"]
    beside = plans.changed({**PLAN, "source": source}, {**PLAN, "source": {**source, "restore": "trainingState"}})
    assert plans.choices(beside) == []


@pytest.mark.parametrize(
    ("settings", "several"),
    [
        ({}, False),
        ({"seed": 1}, False),
        ({"seed": 1, "hyperparams__training__steps": 10}, False),
        ({"baseModel__name": "n", "baseModel__revision": "s"}, False),
        ({"seed": 1, "hyperparams__optimizer__learningRate": 1e-3}, True),
        ({"seed": 1, "baseModel__name": "n", "baseModel__revision": "s"}, True),
    ],
)
def test_several_choices_at_once_are_told(settings, several):
    """More than one, a base model being one."""
    assert plans.several(changed(**settings)) is several
