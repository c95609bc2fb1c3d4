"""The last files of a record: every number exact, every file accounted for."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import life
from support.catalog import make_run

from akka_optimize.trainer import closing


@given(st.floats())
def test_a_number_reads_back_as_itself(value):
    """What the CSV has for a float is that float again, and no other."""
    back = float(closing.text(value))
    assert back == value or (math.isnan(back) and math.isnan(value))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (1e17, "1e+17"),
    ],
)
def test_numbers_are_written_in_one_way(value, written):
    """The shortest digits, and words for what is not finite."""
    assert closing.text(value) == written


@pytest.fixture
def closed(tmp_path):
    """Close the record of a made-up run in an empty folder; its table and its summary."""
    _, catalog = life.open_home(tmp_path)
    folder = tmp_path / "record"
    folder.mkdir()

    def close(**curves):
        run = make_run(catalog, **curves)
        closing.close(catalog, folder, run, phase="COMPLETED", code=None, reason=None)
        lines = (folder / "metrics.csv").read_text().splitlines()
        return list(csv.DictReader(lines)), json.loads((folder / "summary.json").read_text())

    with catalog:
        yield close


def test_a_later_attempt_replaces_an_earlier_one(closed):
    """A step that two attempts recorded has one line, with the later attempt's numbers."""
    table, summary = closed(loss=[3.0, 2.0, 1.0], attempts=[([2, 3, 4], [20.0, 10.0, 5.0], None)])
    assert [(row["step"], row["loss"]) for row in table] == [("1", "3.0"), ("2", "20.0"), ("3", "10.0"), ("4", "5.0")]
    assert summary["final"]["loss"] == {"step": 4, "value": 5.0}


def test_what_was_not_recorded_is_empty(closed):
    """Columns with other steps leave empty cells, and steps that only they have get their line."""
    table, _ = closed(loss=[3.0, 2.0], columns={"validationLoss": ([2, 5], [2.5, 2.25])})
    assert [(row["step"], row["loss"], row["gradNorm"], row["validationLoss"]) for row in table] == [
        ("1", "3.0", "", ""),
        ("2", "2.0", "", "2.5"),
        ("5", "", "", "2.25"),
    ]


def test_a_run_without_a_single_update_has_a_record(closed):
    """The table has its heading and nothing else; nothing is final, nothing is best."""
    table, summary = closed(loss=[])
    assert (table, summary["final"], summary["best"], summary["events"]) == ([], {}, None, [])


def test_many_lines_are_written_in_blocks_and_none_is_lost(closed, monkeypatch):
    """The table does not depend on how many lines are made at once."""
    monkeypatch.setattr(closing, "LINES_AT_ONCE", 7)
    loss = np.linspace(3, 1, 50)
    table, _ = closed(loss=loss)
    assert [float(row["loss"]) for row in table] == loss.tolist()


def test_stretches_that_were_not_finite_and_spikes_are_events(closed):
    """Blocks of NaN and infinity with their first and last step; a norm of ten times the median; the final null."""
    loss = [1.0, math.nan, math.nan, math.inf, 1.0, math.nan]
    norms = [1.0, 1.0, 10.0, 1.0, math.inf, 9.9]
    _, summary = closed(loss=loss, grad_norm=norms)
    events = [
        (e["kind"], e.get("metric"), e.get("value"), e.get("firstStep", e.get("step"))) for e in summary["events"]
    ]
    assert events == [
        ("nonFinite", "loss", "NaN", 2),
        ("nonFinite", "loss", "NaN", 6),
        ("nonFinite", "loss", "Infinity", 4),
        ("nonFinite", "gradNorm", "Infinity", 5),
        ("spike", None, None, 3),
        ("spike", None, None, 5),
    ]
    assert summary["final"]["loss"] == {"step": 6, "value": None}


def test_events_are_cut_and_the_rest_is_counted(closed, monkeypatch):
    """A run of nothing but trouble has a summary of bounded size that says what it leaves out."""
    monkeypatch.setattr(closing, "MOST_EVENTS", 3)
    _, summary = closed(loss=[1.0, math.nan] * 5)
    assert len(summary["events"]) == 4
    assert summary["events"][-1] == {"kind": "cut", "left": 2}


def test_the_last_line_is_the_digest_of_the_others(tmp_path):
    """The list accounts for itself, for files in folders, and not for what is unfinished."""
    (tmp_path / "snapshots" / ".tmp-3").mkdir(parents=True)
    (tmp_path / "snapshots" / ".tmp-3" / "weights").write_text("half")
    (tmp_path / "snapshots" / "a b").write_text("content")
    (tmp_path / "checksums.txt").write_text("old")
    body, last = closing.checksums(tmp_path).decode().splitlines()
    assert body == f"{hashlib.sha256(b'content').hexdigest()}  snapshots/a b"
    assert last == f"# {hashlib.sha256(f'{body}{chr(10)}'.encode()).hexdigest()}  checksums.txt"


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum to ask")
def test_sha256sum_checks_a_folder(tmp_path):
    """The usual program passes over the last line and finds everything else right, or names what is not."""
    (tmp_path / "a").write_text("content")
    (tmp_path / "checksums.txt").write_bytes(closing.checksums(tmp_path))
    check = ["sha256sum", "--check", "--strict", "--quiet", "checksums.txt"]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "a").write_text("contents")
    found = subprocess.run(check, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (1, "a: FAILED\n")
