"""Runs beside one of them, newest first."""

from __future__ import annotations

from support.curves import a_run

from akka_optimize.actions.training.runs.changed import changed
from akka_optimize.records import Page

PLAN = {"seed": 0, "source": None, "hyperparams": {"lora": {"rank": 8}, "training": {"steps": 40}}}


class Trainer:
    """Serves these runs, and remembers what it was asked."""

    def __init__(self, *runs):
        self.held, self.asked = runs, []

    def run(self, ref):
        """The run of that id."""
        return next(run for run in self.held if run.run_id == ref)

    def runs(self, **asked):
        """All of them as a part of more."""
        self.asked.append(asked)
        return Page(self.held, 5, 50)


def with_plan(run_id, **settings):
    """A run whose plan has other settings."""
    return a_run(run_id, plan={**PLAN, **settings})


def test_each_run_is_told_by_what_differs():
    """From the reference to the run; several choices at once are marked, and the reference itself is."""
    own = with_plan("aa")
    one, alike = with_plan("bb", seed=1), with_plan("cc")
    two = with_plan("dd", seed=1, hyperparams={"lora": {"rank": 4}, "training": {"steps": 40}})
    page = changed(Trainer(two, alike, one, own), "aa", phase=None, workload=None, limit=4, offset=5)
    assert (page.offset, page.total) == (5, 50)
    assert [record.run for record in page.items] == [two, alike, one, own]
    seed = {"path": "seed", "from": 0, "to": 1}
    rank = {"path": "hyperparams.lora.rank", "from": 8, "to": 4}
    assert [record.differences for record in page.items] == [(rank, seed), (), (seed,), ()]
    assert [record.several for record in page.items] == [True, False, False, False]
    assert [record.itself for record in page.items] == [False, False, False, True]


def test_the_filters_go_to_the_service():
    """It is one page of the list that they make."""
    trainer = Trainer(with_plan("aa"))
    changed(trainer, "aa", phase="open", workload="triage", limit=4, offset=5)
    assert trainer.asked == [{"phase": "open", "workload": "triage", "limit": 4, "offset": 5}]
