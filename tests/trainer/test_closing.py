"""The last files of a record: how the run went, every unusual event, every file accounted for."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from dataclasses import replace

import pytest
from support import branching, life, parents, recorded
from support.catalog import make_run

from akka_optimize import errors
from akka_optimize.record.verify import verify
from akka_optimize.records import Pause
from akka_optimize.trainer import closing, disk, files

LAST = ("checksums.txt", "metrics.csv", "summary.json")


@pytest.fixture
def closed(tmp_path):
    """Close the record of a made-up run in an empty folder; its table and its summary."""
    _, catalog = life.open_home(tmp_path)
    folder = tmp_path / "record"
    folder.mkdir()

    def close(*, phase="COMPLETED", code=None, reason=None, pause=None, ended_at=None, **curves):
        run = make_run(catalog, **curves)
        closing.close(catalog, folder, run, phase=phase, code=code, reason=reason, pause=pause, ended_at=ended_at)
        lines = (folder / "metrics.csv").read_text().splitlines()
        return list(csv.DictReader(lines)), json.loads((folder / "summary.json").read_text())

    with catalog:
        yield close


@pytest.fixture
def trainer(tmp_path):
    """A home, its catalog, and a run of 20 updates that saved at 10 and at 20."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield home, catalog, parents.trained(catalog, home, {"purpose": "to be closed"})


def test_the_summary_tells_how_the_run_stands(closed):
    """Phase and failure are those it is about to have; counters and last losses are the catalog's."""
    loss = [3.0, 2.0]
    _, summary = closed(loss=loss, columns={"validationLoss": ([2], [2.5])}, phase="FAILED", code="DISK_FULL",
                        reason="the disk is full")  # fmt: skip
    assert {key: summary[key] for key in ("phase", "failureCode", "failureReason", "resumable", "pause")} == {
        "phase": "FAILED",
        "failureCode": "DISK_FULL",
        "failureReason": "the disk is full",
        "resumable": True,
        "pause": None,
    }
    assert (summary["attempt"], summary["steps"], summary["observedStep"], summary["replacedSteps"]) == (1, 2, 2, 0)
    assert summary["final"] == {"loss": {"step": 2, "value": 2.0}, "validationLoss": {"step": 2, "value": 2.5}}
    assert summary["endedAt"] >= summary["startedAt"]


def test_a_failure_that_will_come_again_is_not_resumable(closed):
    """As the trainer judges it."""
    assert closed(phase="FAILED", code="ENGINE_ERROR", reason="no")[1]["resumable"] is False


def test_the_end_is_when_the_caller_says(closed):
    """So that the folder and the catalog name one moment."""
    assert closed(ended_at="2026-01-02T03:04:05Z")[1]["endedAt"] == "2026-01-02T03:04:05Z"


def test_a_pause_is_told_as_it_is(closed):
    """With where the run will go on from, and in the record's names."""
    pause = Pause("latest", "2026-01-02T03:04:05Z", 10, None, resources_released=True)
    assert closed(loss=[1.0], phase="PAUSED", pause=pause)[1]["pause"] == {
        "checkpoint": "latest",
        "requestedAt": "2026-01-02T03:04:05Z",
        "savedStep": 10,
        "reason": None,
        "resourcesReleased": True,
    }


def test_a_run_without_a_single_update_has_a_record(closed):
    """The table has its heading and nothing else; nothing is final, nothing is best."""
    table, summary = closed(loss=[])
    assert (table, summary["final"], summary["best"], summary["events"]) == ([], {}, None, [])


def test_the_table_names_each_steps_attempt(closed):
    """A step that two attempts recorded has one line, with the later attempt's numbers."""
    table, summary = closed(loss=[3.0, 2.0, 1.0], attempts=[([2, 3, 4], [20.0, 10.0, math.inf], None)], phase="FAILED")
    assert [row["step"] for row in table] == sorted(row["step"] for row in table)
    assert [(row["step"], row["attempt"], row["loss"]) for row in table][-3:] == [
        ("2", "2", "20.0"),
        ("3", "2", "10.0"),
        ("4", "2", "Infinity"),
    ]
    assert summary["final"]["loss"] == {"step": 4, "value": None}


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


def test_what_happened_to_the_run_comes_before_what_its_curves_show(closed, tmp_path):
    """Every event of the catalog, in its order, and then those that are read off the curves; none of the former cut."""
    events = tuple({"at": "2026-01-02T03:04:05Z", "kind": "comment", "attempt": 1, "text": str(i)} for i in range(3))
    _, catalog = life.open_home(tmp_path / "other")
    with catalog:
        run = replace(make_run(catalog, loss=[1.0, math.nan]), events=events)
        from akka_optimize.protocol import convert

        summary = closing.summary(run, convert.metrics(catalog.metrics(run.run_id)))
    assert [event["kind"] for event in summary["events"]] == ["comment", "comment", "comment", "nonFinite"]
    assert summary["events"][:3] == [*events]


def test_files_in_folders_are_listed_and_what_is_unfinished_is_not(tmp_path):
    """Nor the list itself, nor a link."""
    (tmp_path / "snapshots" / ".tmp-3").mkdir(parents=True)
    (tmp_path / "snapshots" / ".tmp-3" / "weights").write_text("half")
    (tmp_path / "snapshots" / "a b").write_text("content")
    (tmp_path / "checksums.txt").write_text("old")
    (tmp_path / "link").symlink_to("snapshots/a b")
    body, last = closing.checksums(tmp_path).decode().splitlines()
    assert body == f"{hashlib.sha256(b'content').hexdigest()}  snapshots/a b"
    assert last == f"# {hashlib.sha256(f'{body}{chr(10)}'.encode()).hexdigest()}  checksums.txt"


@pytest.mark.parametrize("name", ["data.jsonl", "snapshots/20/weights.safetensors", "snapshots/20/training-state.pt"])
def test_damage_is_not_written_down_as_the_record(tmp_path, name):
    """What a file was when it was written is listed, so that damage before the end is found as well."""
    folder = recorded.write(tmp_path)
    (folder / name).write_bytes(b"damaged")
    before = (folder / "checksums.txt").read_bytes()
    assert closing.checksums(folder) == before


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"files": 5}', '{"files": {"weights.safetensors": {"sha256": "?"}}}', "[" * 10**5],
    ids=["empty", "list", "number", "digest", "deep"],
)
def test_a_manifest_that_says_nothing_ends_no_run(tmp_path, text):
    """The files beside it are listed as they are."""
    folder = recorded.write(tmp_path)
    (folder / "snapshots/20/manifest.json").write_text(text)
    digest = recorded.sha256((folder / "snapshots/20/weights.safetensors").read_bytes())
    assert f"{digest}  snapshots/20/weights.safetensors\n" in closing.checksums(folder).decode()


def test_a_trained_run_is_sound(trainer):
    """What trainer and worker wrote fits together, and the summary names the best snapshot and what the engine used."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    assert verify(folder).mismatches == ()
    summary = json.loads((folder / "summary.json").read_text())
    best = next(each for each in catalog.snapshots(run.run_id).items if each.best)
    assert summary["best"] == {
        "snapshotId": best.snapshot_id, "step": best.step, "validationLoss": best.validation_loss
    }  # fmt: skip
    assert summary["endedAt"] == run.ended_at
    assert summary["engine"]["requested"]
    assert summary["runtime"]["attempt"] == 1


def test_a_folder_is_opened_again(trainer):
    """The last files go, the list first, and closing again gives what was there before."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    before = {name: (folder / name).read_bytes() for name in LAST}
    closing.reopen(folder)
    assert [name for name in LAST if (folder / name).exists()] == []
    closing.reopen(folder)
    closing.close(catalog, folder, run, phase=run.phase, code=None, reason=None)
    assert {name: (folder / name).read_bytes() for name in LAST} == before


def test_the_list_goes_first(trainer, monkeypatch):
    """Whatever a crash leaves, no list names a file that was taken away."""
    home, _, run = trainer
    taken = []
    real = type(home.path).unlink
    monkeypatch.setattr(type(home.path), "unlink", lambda path, **k: (taken.append(path.name), real(path, **k)))
    closing.reopen(home.path / run.folder)
    assert taken == ["checksums.txt", "summary.json", "metrics.csv"]


def test_what_was_added_to_a_closed_record_is_listed(trainer):
    """A comment comes into the summary, the list fits it again, and every other line is as it was."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    before = (folder / "checksums.txt").read_text().splitlines()
    catalog.add_event(run.run_id, "comment", 1, text="as good as it gets")
    assert closing.refresh(catalog, folder, run)
    assert json.loads((folder / "summary.json").read_text())["events"][-1]["text"] == "as good as it gets"
    assert verify(folder).mismatches == ()
    after = (folder / "checksums.txt").read_text().splitlines()
    changed = [old.split("  ")[1] for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ["summary.json", "checksums.txt"]


@pytest.mark.parametrize("name", ["checksums.txt", "summary.json"])
def test_a_damaged_record_is_not_made_to_fit(trainer, name):
    """Its last files stay as they are, so that the damage is found."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    before = {name: (folder / name).read_bytes() for name in LAST}
    catalog.add_event(run.run_id, "comment", 1, text="too late")
    assert not closing.refresh(catalog, folder, run)
    assert {name: (folder / name).read_bytes() for name in LAST} == before


def test_damage_elsewhere_is_still_found_after_a_comment(trainer):
    """Only the summary's line is made anew."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    (folder / "worker.log").write_text("another log")
    catalog.add_event(run.run_id, "comment", 1, text="unrelated")
    assert closing.refresh(catalog, folder, run)
    assert [each.file for each in verify(folder).mismatches] == ["worker.log"]


def test_an_open_record_is_not_closed_by_a_comment(trainer):
    """Its worker does that."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    closing.reopen(folder)
    assert not closing.refresh(catalog, folder, run)
    assert not (folder / "summary.json").exists()


@pytest.mark.parametrize("refused", LAST)
def test_a_full_disk_leaves_whole_files(trainer, monkeypatch, refused):
    """Each file is the old one or the new one; the error says that there is no room."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    before = {name: (folder / name).read_bytes() for name in LAST}
    real = files.install

    def full(beside, place):
        if place.name == refused:
            raise OSError(28, "No space left on device")
        real(beside, place)

    monkeypatch.setattr(disk.files, "install", full)
    with pytest.raises(errors.Exhausted, match="no space"):
        closing.close(catalog, folder, run, phase=run.phase, code=None, reason=None)
    assert (folder / refused).read_bytes() == before[refused]
    assert not [*folder.rglob(".tmp-*")]


def test_what_a_dead_writer_left_is_cleared(trainer):
    """Files, folders, and a link without what it leads to."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    (folder / ".tmp-1-summary.json").write_text("{")
    (folder / "snapshots" / ".tmp-30").mkdir()
    (folder / "snapshots" / ".tmp-30" / "weights.safetensors").write_text("half")
    (folder / "snapshots" / ".tmp-40").symlink_to(home.path)
    closing.close(catalog, folder, run, phase=run.phase, code=None, reason=None)
    assert verify(folder).mismatches == ()
    assert home.path.is_dir()


def test_a_snapshot_is_known_by_its_id(trainer):
    """The id of a snapshot is that of its run and its manifest, which the summary holds itself to."""
    home, catalog, run = trainer
    snapshot = branching.snapshot_of(catalog, run, 10)
    content = (home.path / run.folder / "snapshots/10/manifest.json").read_bytes()
    own = f"{run.run_id}\n{hashlib.sha256(content).hexdigest()}"
    assert snapshot.snapshot_id == hashlib.sha256(own.encode()).hexdigest()


def test_a_save_that_was_never_committed_is_no_part_of_the_record(trainer):
    """A worker that died between the rename and the catalog leaves a folder, which the record must not vouch for."""
    home, catalog, run = trainer
    folder = home.path / run.folder
    orphan = folder / "snapshots" / "15"
    orphan.mkdir()
    (orphan / "manifest.json").write_text("{}")
    closing.close(catalog, folder, run, phase=run.phase, code=None, reason=None)
    assert sorted(place.name for place in (folder / "snapshots").iterdir()) == ["10", "20"]
    assert verify(folder).mismatches == ()
