"""The main question, on real runs of a made-up engine: did they learn the same?"""

from __future__ import annotations

import json

import pytest

COMPARE = "training runs compare"


def compared(shell, words: str):
    """The document of one comparison."""
    return shell.json(f"{COMPARE} {words}")


def test_two_runs_of_one_plan_are_equal(shell):
    """No parting, over full windows; every mean difference is exactly 0, and so is the one over all."""
    document = compared(shell, "first second")
    assert document["parting"] is None
    assert document["overall"] == {"meanDifference": 0, "maxAbsWindow": 0, "fullWindows": 4}
    assert [window["meanDifference"] for window in document["windows"]] == [0, 0, 0, 0]
    assert document["plan"] | {"division": None} == {
        "same": True, "differences": [], "alignedSteps": True, "division": None
    }  # fmt: skip
    assert document["run"]["configHash"] == document["baseline"]["configHash"]


def test_another_seed_draws_other_rows(shell):
    """Its losses differ at every step, so that equality above is no accident of the curves."""
    document = compared(shell, "reseeded first --across-plans")
    assert [difference["path"] for difference in document["plan"]["differences"]] == ["seed"]
    assert all(window["meanDifference"] != 0 for window in document["windows"])


def test_another_plan_is_refused_by_the_setting_that_differs(shell):
    """Exit 1, with the setting's path, both values, and the option that compares all the same."""
    ended = shell(f"{COMPARE} hotter first")
    assert (ended.code, ended.out) == (1, "")
    assert "hyperparams.optimizer.learningRate: 0.001 -> 0.0001" in ended.err
    assert "field: hyperparams.optimizer.learningRate" in ended.err
    assert "--across-plans" in ended.err


def test_across_plans_the_window_where_they_part_is_shown(shell):
    """Windows, the difference of the plans, and the first full window that is further apart than the margin."""
    document = compared(shell, "hotter first --across-plans")
    path = "hyperparams.optimizer.learningRate"
    assert document["plan"]["differences"] == [{"path": path, "run": 0.001, "baseline": 0.0001}]
    apart = [window for window in document["windows"] if abs(window["meanDifference"]) > document["margin"]]
    assert {name: apart[0][name] for name in ("firstStep", "lastStep", "meanDifference")} | {
        "reason": "margin"
    } == document["parting"]
    assert document["parting"]["meanDifference"] < 0, "what learns faster has the lower loss"


def test_the_text_begins_with_the_verdict(shell):
    """It says what it rests on, and adds the caution where the two part."""
    assert shell.ok(f"{COMPARE} first second").startswith("no parting in 4 full windows of 10 steps")
    parted = shell.ok(f"{COMPARE} hotter first --across-plans")
    assert parted.startswith("parting at steps 1-10")
    assert "repeated runs of the same plan" in parted


EXIT_STATUS = [
    pytest.param("first second", 0, "", id="equal"),
    pytest.param("hotter first --across-plans", 5, "the two runs part at steps", id="parted"),
    pytest.param("short short-too", 1, "hold no full window of 10", id="nothing-to-judge-by"),
    pytest.param("short short-too --window 5", 0, "", id="a-window-that-fits"),
    pytest.param("hotter first", 1, "--across-plans", id="refused"),
]


@pytest.mark.parametrize(("words", "code", "said"), EXIT_STATUS)
def test_exit_status(shell, words, code, said):
    """0 when no window parts, 5 when one does, 1 when that cannot be told."""
    ended = shell(f"{COMPARE} {words} --exit-status")
    assert ended.code == code
    assert said in ended.err
    assert bool(ended.err) == bool(said)


def test_a_mere_division_is_compared_and_reported(shell):
    """Two runs that differ only in how they divide an update need no --across-plans; both divisions are shown."""
    document = compared(shell, "divided first")
    assert document["plan"]["same"]
    assert document["plan"]["division"] == {
        "same": False,
        "run": {"devices": 1, "sequencesPerPass": 2, "accumulation": 4, "sequencesPerUpdate": 8},
        "baseline": {"devices": 1, "sequencesPerPass": 8, "accumulation": 1, "sequencesPerUpdate": 8},
    }
    text = shell.ok(f"{COMPARE} divided first")
    assert "1x2x4" in text
    assert "1x8x1" in text


def test_exchange_turns_every_sign(shell):
    """RUN and BASELINE are told apart: the one that is worse has the positive difference."""
    there, back = (compared(shell, f"{words} --across-plans") for words in ("hotter first", "first hotter"))
    assert [w["meanDifference"] for w in there["windows"]] == [-w["meanDifference"] for w in back["windows"]]


@pytest.mark.parametrize(
    ("words", "check"),
    [
        pytest.param("", lambda out: out.startswith("no parting"), id="plain"),
        pytest.param(
            "--window 20 --margin 0.02", lambda out: "2 full windows of 20 steps" in out, id="window-and-margin"
        ),
        pytest.param("--jq .parting", lambda out: out == "null\n", id="parting"),
    ],
)
def test_the_examples_of_its_help(shell, words, check):
    """Each runs as it is written, once the ids are real ones."""
    assert check(shell.ok(f"{COMPARE} first second {words}"))


@pytest.mark.parametrize("digits", [16, 12, 6])
def test_a_run_goes_by_the_beginning_of_its_id(shell, digits):
    """As long as it fits one run only."""
    ids = [shell.ok(f"training runs get {name} --jq .runId").strip() for name in ("first", "second")]
    assert shell.ok([*COMPARE.split(), *(run_id[:digits] for run_id in ids), "--jq", ".parting"]) == "null\n"


def test_numbers_keep_every_digit(shell):
    """A mean difference read back from the JSON is the sum over the recorded losses, to the last bit."""
    ours, theirs = (
        {at["step"]: at["loss"] for at in shell.json(f"training runs metrics {name}")["measurements"]}
        for name in ("hotter", "first")
    )
    window = compared(shell, "hotter first --across-plans --window 1")["windows"][6]
    assert window["meanDifference"] == ours[7] - theirs[7]


def test_all_formats_hold_one_document(shell):
    """json, json-compact and --json print the same numbers; --json keeps the order that was asked for."""
    whole = compared(shell, "hotter first --across-plans")
    words = f"{COMPARE} hotter first --across-plans"
    assert json.loads(shell.ok(f"{words} -o json")) == whole
    some = shell.ok(f"{words} -o json-compact --json parting,window")
    assert some == json.dumps({"parting": whole["parting"], "window": 10}, separators=(",", ":")) + "\n"
    assert shell.ok(f"{words} --jq .overall.meanDifference") == json.dumps(whole["overall"]["meanDifference"]) + "\n"
