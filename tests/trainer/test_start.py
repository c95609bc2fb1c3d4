"""A run's folder is whole and flushed before the run exists, or there is neither."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest
from support import life

from akka_optimize import errors
from akka_optimize.trainer import resolve, start

ONE_LINER = (
    "import hashlib,json,sys; "
    "print(hashlib.sha256(json.dumps(json.load(open('config.json')), sort_keys=True).encode()).hexdigest()[:12])"
)


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


def started(trainer, settings=None):
    """A run from the default descriptor with `settings` changed."""
    return start.start(*trainer, life.descriptor(settings))


def identity(trainer, run):
    """What the run's `run.json` says."""
    return json.loads((trainer[1].path / run.folder / "run.json").read_text())


def test_a_run_waits_in_the_queue_with_its_folder(trainer):
    """The new run is QUEUED under a fresh id, and its folder is named after the id and the hash."""
    run, other = started(trainer), started(trainer)
    assert run.phase == "QUEUED"
    assert run.folder == f"runs/{run.run_id}-{run.config_hash}"
    assert len(run.run_id) == 16
    assert run.run_id != other.run_id
    assert run.config_hash == other.config_hash


def test_one_line_of_python_recomputes_the_hash(trainer):
    """The hash in the folder's name follows from config.json alone."""
    run = started(trainer, {"config.hyperparams.optimizer.learningRate": 1})
    folder = trainer[1].path / run.folder
    printed = subprocess.run([sys.executable, "-c", ONE_LINER], cwd=folder, capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == folder.name.rsplit("-", 1)[1] == run.config_hash


def test_config_json_is_what_was_hashed(trainer):
    """The file is the hashed text, byte for byte: no line end, no indent."""
    run = started(trainer)
    assert (trainer[1].path / run.folder / "config.json").read_text() == json.dumps(run.plan, sort_keys=True)


def test_run_json_says_who_the_run_is(trainer):
    """Identity, seeds, rows, division and environment are there from the start."""
    told = identity(trainer, started(trainer, {"name": "first", "purpose": "To see it.", "config.seed": 7}))
    assert (told["name"], told["purpose"], told["notes"]) == ("first", "To see it.", [])
    assert told["workload"]["name"] == life.WORKLOAD
    assert told["seeds"]["config"] == 7
    assert "7/hold-out/" in told["seeds"]["heldOutRows"]
    assert told["rows"] == {"training": 36, "heldOut": 4, "skipped": 0}
    assert told["division"]["sequencesPerUpdate"] == 8
    assert told["environment"]["python"] == sys.version.split()[0]


def test_a_missing_purpose_is_said(trainer):
    """The record of a run without a purpose says so, and the run is not refused."""
    told = identity(trainer, started(trainer))
    assert told["purpose"] is None
    assert any("no purpose" in note for note in told["notes"])


def test_the_rows_are_the_datasets_own_file(trainer):
    """Where the disk can link, the rows take no room of their own."""
    run = started(trainer)
    assert (trainer[1].path / run.folder / "data.jsonl").samefile(trainer[1].datasets / f"{run.dataset}.jsonl")


def test_rows_are_copied_where_they_cannot_be_linked(trainer, monkeypatch):
    """On a disk without hard links the folder still holds the rows."""
    monkeypatch.setattr(os, "link", lambda *_args: (_ for _ in ()).throw(OSError(errno.EPERM, "no links")))
    run = started(trainer)
    place, source = trainer[1].path / run.folder / "data.jsonl", trainer[1].datasets / f"{run.dataset}.jsonl"
    assert not place.samefile(source)
    assert place.read_bytes() == source.read_bytes()


def test_the_folder_is_flushed_before_the_run_exists(trainer, monkeypatch):
    """When the catalog hears of the run, its files and both folders were flushed."""
    catalog, home = trainer
    flushed, really, add = set(), os.fsync, catalog.add_run

    def fsync(descriptor):
        flushed.add(os.fstat(descriptor).st_ino)
        really(descriptor)

    def add_run(new):
        folder = home.path / new.folder
        for place in (folder / "config.json", folder / "run.json", folder, home.runs):
            assert place.stat().st_ino in flushed, place
        return add(new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(catalog, "add_run", add_run)
    assert started(trainer).phase == "QUEUED"


def test_a_catalog_that_refuses_leaves_no_folder(trainer, monkeypatch):
    """No folder stands for a run that does not exist."""
    catalog, home = trainer

    def full(new):
        assert (home.path / new.folder / "config.json").exists()
        raise errors.Exhausted("no room")

    monkeypatch.setattr(catalog, "add_run", full)
    with pytest.raises(errors.Exhausted):
        started(trainer)
    assert list(home.runs.iterdir()) == []


def test_a_full_disk_leaves_no_folder_and_no_run(trainer, monkeypatch):
    """When the folder cannot be written, the error says that the disk is full and nothing is left."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
    with pytest.raises(errors.Exhausted):
        started(trainer)
    assert list(trainer[1].runs.iterdir()) == []
    assert trainer[0].runs().total == 0


def test_a_submission_starts_one_run(trainer):
    """The same request under the same submissionId reaches the run that exists, and makes no folder."""
    first = started(trainer, {"submissionId": "token-1"})
    again = started(trainer, {"submissionId": "token-1"})
    assert again == first
    assert len(list(trainer[1].runs.iterdir())) == 1


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({"config.seed": 1}, "config.seed 0 instead of 1", id="seed"),
        pytest.param({"name": "other"}, 'name null instead of "other"', id="name"),
        pytest.param({"purpose": "a", "description": "b"},
                     'purpose null instead of "a", description null instead of "b"', id="two-texts"),
        pytest.param({"execution.saveEvery": 5}, "execution.saveEvery null instead of 5", id="saves"),
        pytest.param({"config.hyperparams.training.maxSteps": 21},
                     "config.hyperparams.training.maxSteps 20 instead of 21", id="horizon"),
        pytest.param({"config.hyperparams.lora.rank": 4, "config.hyperparams.lora.alpha": 2},
                     "config.hyperparams.lora.alpha 16.0 instead of 2.0, config.hyperparams.lora.rank 8 instead of 4",
                     id="two-fields"),
    ],
)  # fmt: skip
def test_a_submission_is_bound_to_its_request(trainer, settings, named):
    """Another request under a used submissionId is refused, by the check too, with each field and both its values."""
    run = started(trainer, {"submissionId": "token-1"})
    for act in (start.start, start.preview):
        with pytest.raises(errors.Conflict) as caught:
            act(*trainer, life.descriptor({"submissionId": "token-1"} | settings))
        assert caught.value.message == f"submission 'token-1' started run {run.run_id} with {named}"
        assert caught.value.field == "submissionId"
    assert trainer[0].runs().total == 1


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"config.seed": 0, "execution.gpus": 1}, id="a-default-that-is-stated"),
        pytest.param({"config.hyperparams.lora.alpha": 16}, id="a-number-written-in-another-way"),
        pytest.param({"config.hyperparams.training.epochs": 2e6}, id="an-horizon-that-comes-to-the-same"),
        pytest.param({"config.dataset": "HASH"}, id="the-rows-by-their-hash"),
    ],
)
def test_what_comes_to_the_same_is_the_same_request(trainer, settings):
    """However it is written, it reaches the run, and the check says so beforehand."""
    run = started(trainer, {"submissionId": "token-1"})
    settings = {path: run.dataset if value == "HASH" else value for path, value in settings.items()}
    again = {"submissionId": "token-1"} | settings
    assert started(trainer, again) == run
    notes = start.preview(*trainer, life.descriptor(again)).notes
    assert f"submission 'token-1' started run {run.run_id} already, which is reached; no other is started" in notes


def test_a_name_that_points_at_other_rows_by_now_is_still_what_was_asked_for(trainer):
    """The request reaches its run, which keeps its rows; the check says that the name has moved on."""
    run = started(trainer, {"submissionId": "token-1"})
    life.add_rows(trainer[1], trainer[0], [life.row(f"other {i}", "answer") for i in range(50)])
    assert started(trainer, {"submissionId": "token-1"}) == run
    notes = start.preview(*trainer, life.descriptor({"submissionId": "token-1"})).notes
    assert f"dataset '{life.ROWS}' has other rows by now; run {run.run_id} keeps those it had" in notes


def test_a_token_that_is_fresh_is_not_mentioned(trainer):
    """The check of a request that starts a run has nothing to say of its token, and stores nothing."""
    notes = start.preview(*trainer, life.descriptor({"submissionId": "token-1"})).notes
    assert not any("token-1" in note for note in notes)
    assert trainer[0].runs().total == 0


def test_two_processes_with_one_submission_start_one_run(trainer, monkeypatch):
    """Where the other process was faster by a moment, its run is the answer and our folder is gone."""
    catalog, home = trainer
    first, look, answers = started(trainer, {"submissionId": "token-1"}), catalog.submitted, iter([None])
    monkeypatch.setattr(catalog, "submitted", lambda token: next(answers, look(token)))
    assert started(trainer, {"submissionId": "token-1"}) == first
    assert len(list(home.runs.iterdir())) == 1


@pytest.mark.parametrize("after", [False, True], ids=["before-the-commit", "after-the-commit"])
def test_an_interrupt_leaves_both_or_neither(trainer, monkeypatch, after):
    """Ctrl-C next to the commit: the run is there with its folder, or neither is."""
    catalog, home = trainer
    add = catalog.add_run

    def interrupted(new):
        if after:
            add(new)
        raise KeyboardInterrupt

    monkeypatch.setattr(catalog, "add_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        started(trainer)
    assert [run.folder for run in catalog.runs().items] == [f"runs/{path.name}" for path in home.runs.iterdir()]
    assert catalog.runs().total == after


def test_rows_that_are_gone_are_named(trainer):
    """Also when their lengths are known already, and by a dry run as by the start itself."""
    catalog, home = trainer
    rows = home.datasets / f"{started(trainer).dataset}.jsonl"
    before = sorted(home.runs.iterdir())
    rows.unlink()
    for act in (start.start, resolve.resolve):
        with pytest.raises(errors.NotFound, match=str(rows)):
            act(catalog, home, life.descriptor())
    assert sorted(home.runs.iterdir()) == before
