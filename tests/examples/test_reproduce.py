"""The small training of the example: one hash and one loss, twice, on record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from akka_optimize.record.verify import verify

SCRIPT = Path(__file__).parents[2] / "examples" / "reproduce" / "reproduce.py"
CONFIG = {"benih": 0, "dim": 4, "lr": 0.05, "langkah": 200}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The script as it stands, and the folders that it left."""
    folder = tmp_path_factory.mktemp("reproduce")
    command = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False), sorted(folder.iterdir())


def test_both_numbers_are_printed_twice(done):
    """Hash and loss, as published."""
    ended, _ = done
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [line for line in ended.stdout.splitlines() if "run:" in line] == [
        "first run: configuration e14ea5ff5f88, loss 0.008153",
        "second run: configuration e14ea5ff5f88, loss 0.008153",
    ]


def test_each_run_has_a_sound_record_of_that_configuration_alone(done):
    """With curves, and a snapshot of weights and optimizer."""
    _, folders = done
    assert len(folders) == 2
    for folder in folders:
        assert verify(folder).mismatches == ()
        assert folder.name.endswith("-e14ea5ff5f88")
        assert (folder / "config.json").read_text() == json.dumps(CONFIG, sort_keys=True)
        assert len((folder / "metrics.csv").read_text().splitlines()) == 1 + 200
        assert (folder / "snapshots/200/training-state.pt").stat().st_size
    first, second = ((folder / "snapshots/200/weights.safetensors").read_bytes() for folder in folders)
    assert first == second


@pytest.mark.parametrize(
    "change",
    [('"lr": 0.05', '"lr": 0.050001'), ("0.1 * torch", "0.1001 * torch")],
    ids=["configuration", "training"],
)
def test_another_number_is_a_failure(tmp_path, capsys, change):
    """The script ends with 1 where the hash or a loss is another one."""
    text = SCRIPT.read_text()
    assert change[0] in text
    changed = {"__name__": "changed"}
    exec(compile(text.replace(*change, 1), SCRIPT, "exec"), changed)
    assert changed["main"](str(tmp_path)) == 1
    assert "expected configuration e14ea5ff5f88" in capsys.readouterr().err
