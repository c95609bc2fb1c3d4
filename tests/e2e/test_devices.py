"""A run in two processes beside its twin in one: one plan, two divisions, one curve."""

from __future__ import annotations

from support import life, parents
from support.decoding import MODEL
from support.homes import CommandLine

from akka_optimize.trainer import start

SETTINGS = {
    "baseModel": MODEL,
    "config.hyperparams.optimizer.learningRate": 1e-3,
    "config.hyperparams.training.maxSteps": 6,
}


def test_two_processes_and_one_compare_as_one_plan(tmp_path):
    """Without --across-plans; both divisions are told, what the processes may move is said, and nothing parts."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        start.start(catalog, home, life.descriptor({**SETTINGS, "name": "one"}))
        parents.carry_out(catalog, home)
        start.start(catalog, home, life.descriptor({**SETTINGS, "name": "two", "execution.gpus": 2}))
        assert parents.carry_out(catalog, home).phase == "COMPLETED"
    shell = CommandLine(home.path)
    found = shell.json("training runs compare two one --window 2 --exit-status")
    assert found["plan"]["same"] is True
    division = found["plan"]["division"]
    assert [division[side]["devices"] for side in ("run", "baseline")] == [2, 1]
    assert division["run"]["sequencesPerPass"] * 2 == division["baseline"]["sequencesPerPass"]
    assert found["overall"]["maxAbsWindow"] < 1e-4
    assert found["parting"] is None
    assert {"path": "processes", "run": 2, "baseline": 1, "movesDigits": True} in found["environment"]["differences"]
    text = shell.ok("training runs compare two one --window 2")
    assert "2x4x1" in text
    assert "1x8x1" in text
    assert shell.json("training runs verify two one")["sound"] is True
