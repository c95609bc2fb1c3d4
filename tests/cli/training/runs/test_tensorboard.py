"""`training runs tensorboard`."""

from __future__ import annotations

import csv
import json
import math
import signal
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest
from support.boards import scalars
from support.commands_fake import METRICS, RUN, carry_out
from support.homes import STEPS, CommandLine
from support.life import until

from akka_optimize.actions.training.runs import tensorboard
from akka_optimize.actions.training.runs.eventfiles import NOTE, TAGS

COMMAND = ["training", "runs", "tensorboard", "first"]


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A shell on a home with one run that has trained."""
    made = CommandLine(tmp_path_factory.mktemp("shell") / "home").prepare()
    made.start("name=first", "hyperparams.training.validationFrequencySteps=7", wait=True)
    return made


def recorded(shell, name="first"):
    """The run's curves as `runs metrics -o csv` has them, by tag: step and number."""
    rows = list(csv.DictReader(shell.ok(f"training runs metrics {name} -o csv").splitlines()))
    return {
        tag: [(int(row["step"]), float(row[column])) for row in rows if row[column]] for column, tag in TAGS.items()
    }


def test_the_files_hold_the_runs_curves(shell, tmp_path):
    """Every value of every step, each rounded to 32 bits and no further, as TensorBoard reads them back."""
    folder = tmp_path / "events"
    done = shell.json([*COMMAND, "--sync-only", "--dir", str(folder)])
    found = {tag: [(step, value) for step, value, _ in points] for tag, points in scalars(folder).items()}
    wanted = {
        tag: [(step, float(np.float32(value))) for step, value in points] for tag, points in recorded(shell).items()
    }
    assert found == wanted
    assert len(found["loss/training"]) == 40
    assert [step for step, _ in found["loss/validation"]] == [7, 14, 21, 28, 35, 40]
    run = shell.json("training runs get first")
    assert done == {"runId": run["runId"], "dir": str(folder), "step": 40, "written": 40, "url": None}
    walls = [wall for _, _, wall in scalars(folder)["loss/training"]]
    assert walls == sorted(walls)
    assert all(math.isclose(wall, time.time(), abs_tol=3600) for wall in walls)


def test_again_it_writes_nothing(shell, tmp_path):
    """The second command finds everything there."""
    words = [*COMMAND, "--sync-only", "--dir", str(tmp_path)]
    assert [shell.json(words)["written"] for _ in range(2)] == [40, 0]


def test_a_run_in_training_is_followed_to_its_end(tmp_path, monkeypatch):
    """The command ends when the run does, and holds every step of it."""
    monkeypatch.setattr(tensorboard, "EVERY_SECONDS", 0.1)
    shell = CommandLine(tmp_path / "home").prepare()
    shell.start("name=first", environ={"AKKA_ARITHMETIC_STEP_SECONDS": "0.02"})
    done = shell.json([*COMMAND, "--sync-only", "--dir", str(tmp_path / "events")])
    assert (done["step"], done["written"]) == (40, 40)
    assert [step for step, _, _ in scalars(tmp_path / "events")["loss/training"]] == list(range(1, 41))


def test_ctrl_c_ends_it_and_not_the_run(tmp_path):
    """Exit code 130 and a sentence with the folder; what was written stays, and the run goes on."""
    shell = CommandLine(tmp_path / "home").prepare()
    shell.start("name=first", f"{STEPS}=100000", environ={"AKKA_ARITHMETIC_STEP_SECONDS": "0.05"})
    folder = tmp_path / "events"
    try:
        process = shell.spawn([*COMMAND, "--sync-only", "--dir", str(folder)])
        until(lambda: (folder / NOTE).exists() and '"loss"' in (folder / NOTE).read_text(), "the first steps")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (130, ""), err
        assert f"the event files stay in {folder}" in err
        assert scalars(folder)
        assert shell.json("training runs get first")["phase"] == "TRAINING"
    finally:
        shell.ok("training runs cancel first --force")
        shell.ok("training runs wait first")


def fetched(url, tag):
    """What TensorBoard answers for a tag: wall time, step, value of each point; None while it has not loaded it."""
    query = urllib.parse.urlencode({"run": ".", "tag": tag})
    try:
        with urllib.request.urlopen(f"{url}data/plugin/scalars/scalars?{query}", timeout=5) as answer:
            return json.load(answer)
    except urllib.error.HTTPError:
        return None


def test_the_real_tensorboard_shows_the_run(shell, tmp_path):
    """Opened by the command at a free port, it serves the very points; Ctrl-C ends both."""
    process = shell.spawn([*COMMAND, "--dir", str(tmp_path), "--port", "0", "-o", "json-compact"])
    try:
        url = json.loads(process.stdout.readline())["url"]
        until(lambda: fetched(url, "loss/training"), "TensorBoard to load the run")
        points = fetched(url, "loss/training")
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    wanted = [(step, float(np.float32(value))) for step, value in recorded(shell)["loss/training"]]
    assert [(step, value) for _, step, value in points] == wanted
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(url, timeout=5)


def test_what_is_wrong_is_told_before_anything_is_asked(tmp_path):
    """A port that is none is wrong usage, and a missing program a refusal that names the way without it."""
    for port in ("-1", "65536", "x"):
        done = carry_out([*COMMAND, "--port", port])
        assert (done.code, done.calls) == (2, [])
    done = carry_out([*COMMAND, "--dir", str(tmp_path / "events")], environ={"PATH": str(tmp_path)})
    assert (done.code, done.out, done.calls) == (1, "", [])
    assert "no program `tensorboard` is on PATH" in done.err
    assert "--sync-only" in done.err
    assert not (tmp_path / "events").exists()


def test_the_record_is_shown(tmp_path):
    """In text: where the files are, and how far they reach."""
    done = carry_out([*COMMAND, "--sync-only", "--dir", str(tmp_path)], metrics=METRICS)
    assert done.code == 0
    assert [line.split(None, 1) for line in done.out.splitlines()] == [
        ["Run", RUN.run_id],
        ["Folder", str(tmp_path)],
        ["Step", "3"],
        ["Written", "3 steps"],
        ["TensorBoard", "—"],
    ]
