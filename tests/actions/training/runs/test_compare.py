"""Which runs are compared, and which are refused and why."""

from __future__ import annotations

import pytest
from support.curves import FakeTrainer, a_run, column

from akka_optimize.actions.training.runs.compare import compare, require_no_parting
from akka_optimize.errors import AnswerIsNo, Refused
from akka_optimize.records import Division

LOSS = [2.0, 1.5, 1.25, 1.0]
PLAN = {"hyperparams": {"optimizer": {"learningRate": 1e-4}}, "seed": 0, "source": None}
FASTER = {"hyperparams": {"optimizer": {"learningRate": 1e-3}}, "seed": 0, "source": None}


def served(run=None, baseline=None, curves=None, baseline_curves=None):
    """A trainer with the runs `aa` and `bb`, which have one plan and one curve unless stated."""
    usual = {"loss": column(LOSS), "gradNorm": column([1.0] * 4)}
    return FakeTrainer(
        (a_run("aa11", **({"plan": PLAN} | (run or {}))), usual if curves is None else curves),
        (a_run("bb22", **({"plan": PLAN} | (baseline or {}))), usual if baseline_curves is None else baseline_curves),
    )


def test_joins_runs_and_curves_into_one_record():
    """References are resolved once; curves are fetched by id."""
    trainer = served()
    found = compare(trainer, "aa", "bb", window=2)
    assert (found.run.run_id, found.baseline.run_id, trainer.asked) == ("aa11", "bb22", ["aa11", "bb22"])
    assert (found.differences, found.aligned_steps, found.environment) == ((), True, ())
    assert (found.curves.window, found.curves.full_windows, found.curves.parting) == (2, 2, None)


def test_defaults_are_ten_steps_three_hundredths_and_ten_medians():
    """What a caller leaves out is what the command's help says."""
    curves = compare(served(), "aa", "bb").curves
    assert (curves.window, curves.margin, curves.spike_factor) == (10, 0.03, 10.0)


@pytest.mark.parametrize(
    ("trainer", "refs", "field", "message"),
    [
        pytest.param(served(), ("aa", "aa11"), "baseline", "run aa11 is its own baseline", id="with-itself"),
        pytest.param(
            served(run={"method": "grpo"}), ("aa", "bb"), "run",
            "run aa11 was trained by grpo, which records a reward at each step rather than a training loss",
            id="reinforcement-run",
        ),
        pytest.param(
            served(baseline={"method": "gspo"}), ("aa", "bb"), "baseline",
            "run bb22 was trained by gspo, which records a reward at each step rather than a training loss",
            id="reinforcement-baseline",
        ),
        pytest.param(
            served(curves={}, run={"phase": "QUEUED"}), ("aa", "bb"), "loss",
            "run aa11 has recorded no training loss and is QUEUED", id="no-loss-yet",
        ),
        pytest.param(
            served(baseline_curves={"loss": column([])}, baseline={"phase": "FAILED"}), ("aa", "bb"), "loss",
            "run bb22 has recorded no training loss and is FAILED", id="no-loss-ever",
        ),
        pytest.param(
            served(baseline={"plan": FASTER}), ("aa", "bb"), "hyperparams.optimizer.learningRate",
            "the plans of run aa11 and baseline bb22 differ in one setting (run -> baseline):\n"
            "  hyperparams.optimizer.learningRate: 0.0001 -> 0.001", id="one-setting-differs",
        ),
        pytest.param(
            served(baseline={"plan": FASTER | {"seed": 7, "dataset": "rows"}}), ("aa", "bb"), "dataset",
            "the plans of run aa11 and baseline bb22 differ in 3 settings (run -> baseline):\n"
            '  dataset: null -> "rows"\n'
            "  hyperparams.optimizer.learningRate: 0.0001 -> 0.001\n"
            "  seed: 0 -> 7", id="several-settings-differ",
        ),
        pytest.param(
            served(run={"plan": PLAN | {"source": {"weights": "f0"}}}), ("aa", "bb"), "source",
            "the plans of run aa11 and baseline bb22 differ in one setting (run -> baseline):\n"
            '  source: {"weights": "f0"} -> null', id="child-and-parent",
        ),
    ],
)  # fmt: skip
def test_refusals_say_what_and_where(trainer, refs, field, message):
    """The whole sentence, and the field that a script can read."""
    with pytest.raises(Refused) as caught:
        compare(trainer, *refs)
    assert (caught.value.message, caught.value.field) == (message, field)


def test_different_plans_are_refused_before_a_curve_is_fetched():
    """A refusal costs two small requests, and its hint names the flag."""
    trainer = served(baseline={"plan": FASTER})
    with pytest.raises(Refused) as caught:
        compare(trainer, "aa", "bb")
    assert trainer.asked == []
    assert "--across-plans" in caught.value.hint


def test_across_plans_reports_the_differences():
    """The same two runs, compared, with what they differ in."""
    found = compare(served(baseline={"plan": FASTER}), "aa", "bb", across_plans=True)
    assert [(each.path, each.run, each.baseline) for each in found.differences] == [
        ("hyperparams.optimizer.learningRate", 1e-4, 1e-3)
    ]
    assert found.aligned_steps


@pytest.mark.parametrize(
    ("source", "aligned"),
    [
        pytest.param(None, True, id="same-source"),
        pytest.param({"weights": "f0", "restore": "weights"}, False, id="child-of-a-snapshot"),
    ],
)
def test_steps_align_only_from_one_source(source, aligned):
    """A child's step 1 is not its parent's."""
    trainer = served(run={"plan": PLAN | {"source": source}}, baseline={"plan": FASTER})
    assert compare(trainer, "aa", "bb", across_plans=True).aligned_steps is aligned


def test_siblings_of_one_snapshot_differ_by_their_change_alone():
    """Equal sources are no difference, and their steps align."""
    source = {"source": {"weights": "f0", "restore": "weights"}}
    trainer = served(run={"plan": PLAN | source}, baseline={"plan": FASTER | source})
    found = compare(trainer, "aa", "bb", across_plans=True)
    assert [each.path for each in found.differences] == ["hyperparams.optimizer.learningRate"]
    assert found.aligned_steps


def test_a_mere_division_is_no_difference_of_plans():
    """The same sequences an update, divided otherwise, are compared without a flag."""
    found = compare(served(run={"division": Division(1, 4, 2, 8)}), "aa", "bb")
    assert found.differences == ()
    assert found.run.division != found.baseline.division


def test_a_run_in_training_is_compared_as_far_as_it_is():
    """Nobody has to wait for the end to see two runs part."""
    trainer = served(run={"phase": "TRAINING"}, curves={"loss": column(LOSS[:2])})
    found = compare(trainer, "aa", "bb")
    assert (found.run.phase, found.curves.compared) == ("TRAINING", 2)


@pytest.mark.parametrize(
    ("environment", "paths"),
    [
        pytest.param({"packages": {"torch": "2.13"}}, [], id="the-same"),
        pytest.param({"packages": {"torch": "2.14"}}, ["packages.torch"], id="another-version"),
        pytest.param(None, ["packages.torch"], id="not-recorded"),
    ],
)
def test_environments_are_compared_by_path(environment, paths):
    """Versions and machines are listed like settings, and never refused."""
    found = compare(served(run={"environment": environment}), "aa", "bb")
    assert [each.path for each in found.environment] == paths


def test_require_no_parting_tells_three_answers_apart():
    """No parting is silence, a parting is the answer "no", and no full window is no answer."""
    worse = {"loss": column([each + 1 for each in LOSS])}
    require_no_parting(compare(served(), "aa", "bb", window=2))
    with pytest.raises(AnswerIsNo, match="part at steps 1 to 2"):
        require_no_parting(compare(served(curves=worse), "aa", "bb", window=2))
    with pytest.raises(Refused, match="4 compared steps hold no full window of 10"):
        require_no_parting(compare(served(curves=worse), "aa", "bb"))


def test_steps_that_a_dead_attempt_recorded_are_counted():
    """Those that were cut from either curve, beside those that a curve holds twice."""
    twice = {"loss": column([2.0, 1.5, 1.75, 1.0], steps=[1, 2, 2, 3], attempts=[1, 1, 2, 2])}
    curves = compare(served({"replaced_steps": 3}, {"replaced_steps": 4}, curves=twice), "aa", "bb").curves
    assert (curves.run.replaced, curves.baseline.replaced) == (4, 4)
