"""A run, its repeat, and the comparison of the two: on one CPU device they are equal, bit for bit."""

from __future__ import annotations

from support import life, parents
from support.decoding import MODEL
from support.homes import CommandLine

from akka_optimize.trainer import repeat, start

SETTINGS = {
    "baseModel": MODEL,
    "name": "first",
    "config.hyperparams.lora.dropout": 0.1,
    "config.hyperparams.optimizer.learningRate": 1e-3,
    "config.hyperparams.training.maxSteps": 4,
    "config.hyperparams.training.sequencesPerUpdate": 4,
    "execution.sequencesPerPass": 2,
}


def test_a_repeat_of_real_training_parts_by_exactly_nothing(tmp_path):
    """Dropout, accumulation and all: every window's difference is 0, and so is every digit of the environment."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        start.start(catalog, home, life.descriptor(SETTINGS))
        first = parents.carry_out(catalog, home)
        (again,) = repeat.repeat(catalog, home, "first", times=1, submission_id="t", origin=None).runs
        assert parents.carry_out(catalog, home).phase == "COMPLETED"
    shell = CommandLine(home.path)
    found = shell.json(f"training runs compare {again.run_id} {first.run_id} --window 1 --exit-status")
    assert [window["meanDifference"] for window in found["windows"]] == [0.0] * 4
    assert len({window["runLoss"] for window in found["windows"]}) == 4
    assert (found["plan"]["same"], found["environment"]["differences"]) == (True, [])
    assert found["parting"] is None


def test_a_repeat_from_the_command_line(tmp_path):
    """Started, followed and compared as a user does it, with a worker of its own; the token reaches the same run."""
    shell = CommandLine(tmp_path / "home").prepare()
    first = shell.start("name=first", wait=True)
    words = "training runs repeat first --force --wait --exit-status -q --submission-id t --jq .runId"
    again = shell.ok(words).strip()
    assert again != first
    assert shell.ok(words).strip() == again
    assert shell.json("training runs get " + again)["repeats"] == first
    windows = shell.json(f"training runs compare {again} first")["windows"]
    assert {window["meanDifference"] for window in windows} == {0.0}
    listed = shell.json("training runs list --changed-from first")["runs"]
    assert [(run["runId"], run["differences"]) for run in listed] == [(again, []), (first, [])]
