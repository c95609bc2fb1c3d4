"""A repeat is the same plan once more, from what is on record, and a token starts no repeat twice."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from support import life, parents
from support.branching import branch, snapshot_of

from akka_optimize import errors
from akka_optimize.core import plans
from akka_optimize.records import Origin
from akka_optimize.trainer import base_models, delete, environment, repeat, start
from akka_optimize.trainer.catalog import fans as rules

COMMIT = "c0ffee" + "0" * 34
SETTINGS = {
    "name": "first",
    "purpose": "To be repeated.",
    "description": "its own",
    "configName": "base",
    "grader": "json-label-match",
    "submissionId": "its-own",
    "config.seed": 3,
    "config.hyperparams.training.sequencesPerUpdate": 12,
    "execution.sequencesPerPass": 3,
}


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A catalog and a home with 40 short rows."""
    monkeypatch.setenv("AKKA_ARITHMETIC_FAULT", "")
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0")
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.fixture
def queued(trainer):
    """A run with much in it, which waits."""
    return start.start(*trainer, life.descriptor(SETTINGS))


def again(trainer, run, *, times=1, token="token", origin=None):
    """The repeats of a run."""
    return repeat.repeat(*trainer, run.run_id, times=times, submission_id=token, origin=origin)


def curve(trainer, run):
    """The chunks of a run's curves."""
    return [chunk.SerializeToString() for chunk in trainer[0].metrics(run.run_id)]


def test_a_repeat_is_the_plan_and_not_the_name(trainer, queued):
    """Plan, hash, settings, rows and grader are the run's; name and description are not, and the purpose says why."""
    (run,) = again(trainer, queued).runs
    own = {"run_id", "submission_id", "folder", "name", "purpose", "description", "repeats", "created_at"}
    for field in set(type(run).__dataclass_fields__) - own:
        assert getattr(run, field) == getattr(queued, field), field
    assert plans.plan_text(run.plan) == plans.plan_text(queued.plan)
    assert (run.name, run.description, run.repeats) == (None, None, queued.run_id)
    assert run.purpose == f"repeats run {queued.run_id}"
    assert (run.phase, run.submission_id) == ("QUEUED", "token")


def test_its_folder_says_what_it_repeats(trainer, queued):
    """config.json is the same byte for byte, and run.json differs in who the run is."""
    (run,) = again(trainer, queued, origin=Origin(COMMIT, None)).runs
    ours, theirs = (trainer[1].path / each.folder for each in (run, queued))
    assert (ours / "config.json").read_bytes() == (theirs / "config.json").read_bytes()
    told, before = (json.loads((each / "run.json").read_text()) for each in (ours, theirs))
    differing = {key for key in told if told[key] != before[key]}
    assert differing == {
        *("runId", "name", "purpose", "description", "submittedAt", "submissionId", "repeats", "origin")
    }
    assert told["repeats"] == queued.run_id
    assert told["origin"] == {"commit": COMMIT, "diffSha256": None}


def test_notes_of_the_rows_are_kept_and_that_a_purpose_is_missing_is_not(trainer):
    """A repeat has a purpose."""
    plain = start.start(*trainer, life.descriptor({"config.maxSeqLength": 20}))
    noted = json.loads((trainer[1].path / plain.folder / "run.json").read_text())["notes"]
    assert any("maxSeqLength" in note for note in noted)
    (run,) = again(trainer, plain).runs
    told = json.loads((trainer[1].path / run.folder / "run.json").read_text())["notes"]
    assert told == [note for note in noted if "purpose" not in note]


def test_the_ids_follow_from_the_token(trainer, queued):
    """Anyone can compute them: the first 16 digits of a sha256 of token, run and place."""
    text = f"token\nrepeat\n{queued.run_id}\n"
    ids = [hashlib.sha256(f"{text}{index}".encode()).hexdigest()[:16] for index in range(3)]
    assert [run.run_id for run in again(trainer, queued, times=3).runs] == ids


def test_a_token_starts_nothing_twice(trainer, queued):
    """The second time reaches the runs of the first, whatever has become of them, and makes no folder."""
    first = again(trainer, queued, times=2).runs
    trainer[0].request_cancel(first[0].run_id)
    second = again(trainer, queued, times=2, origin=Origin(COMMIT, None)).runs
    assert [run.run_id for run in second] == [run.run_id for run in first]
    assert second[0].phase == "CANCELLED"
    assert len(list(trainer[1].runs.iterdir())) == 3


@pytest.mark.parametrize(("times", "token"), [(1, "token"), (3, "token"), (2, "its-own")])
def test_a_token_that_stands_for_something_else_is_refused(trainer, queued, times, token):
    """Another number of repeats, or what a descriptor started: a conflict, and nothing is stored."""
    again(trainer, queued, times=2)
    before = trainer[0].runs().total
    with pytest.raises(errors.Conflict, match=rf"{token}.*({times}|{queued.run_id})") as caught:
        again(trainer, queued, times=times, token=token)
    assert caught.value.field == "submissionId"
    assert trainer[0].runs().total == before


def test_a_token_is_bound_to_its_run(trainer, queued):
    """The same token on another run is a conflict."""
    (first,) = again(trainer, queued).runs
    with pytest.raises(errors.Conflict, match=f"started run {first.run_id} already"):
        again(trainer, first)


def test_a_descriptor_under_the_token_of_repeats_is_refused(trainer, queued):
    """Though there may be several of them."""
    again(trainer, queued, times=2)
    with pytest.raises(errors.Conflict, match="started run"):
        start.start(*trainer, life.descriptor({"submissionId": "token"}))


def test_a_deleted_repeat_stays_spent(trainer, queued):
    """Its token never starts it again."""
    first, _ = again(trainer, queued, times=2).runs
    trainer[0].request_cancel(first.run_id)
    delete.delete(*trainer, first.run_id)
    with pytest.raises(errors.Refused, match=f"repeat {first.run_id} of run .* was deleted"):
        again(trainer, queued, times=2)


def test_a_repeat_of_a_repeat_names_that_one(trainer, queued):
    """Whoever asks for the first one names the first one."""
    (first,) = again(trainer, queued).runs
    (second,) = again(trainer, first, token="other").runs
    assert second.repeats == first.run_id
    assert second.plan == queued.plan


@pytest.mark.parametrize("times", [0, -1, 51])
def test_times_have_bounds(trainer, queued, times):
    """1 to 50; the field is named."""
    with pytest.raises(errors.Invalid, match="1 to 50") as caught:
        again(trainer, queued, times=times)
    assert caught.value.field == "times"


def test_a_token_that_is_none_is_refused(trainer, queued):
    """Before anything is looked up."""
    with pytest.raises(errors.Invalid, match="token"):
        again(trainer, queued, token="two words")


def test_another_revision_of_the_base_model_is_refused(trainer, queued, monkeypatch):
    """What would be trained is not what was trained."""
    model = replace(base_models.find(queued.base_model), revision="f" * 64)
    monkeypatch.setattr(base_models, "find", lambda _name: model)
    with pytest.raises(errors.Refused, match="has revision ffffffffffff"):
        again(trainer, queued)


def test_rows_that_are_gone_are_told_with_the_way_back(trainer, queued):
    """The rows of the run's dataset, by their hash: an import of the folder brings them."""
    (trainer[1].datasets / f"{queued.dataset}.jsonl").unlink()
    with pytest.raises(errors.NotFound, match="are gone") as caught:
        again(trainer, queued)
    assert "training runs import" in caught.value.hint
    assert trainer[0].runs().total == 1


def test_a_name_that_stands_for_other_rows_by_now_changes_nothing(trainer, queued):
    """A repeat takes its rows by their hash."""
    life.add_rows(trainer[1], trainer[0], [life.row("other", "rows")])
    (run,) = again(trainer, queued).runs
    assert run.dataset == queued.dataset


def test_where_the_environment_differs_is_told_with_what_that_can_do(trainer, queued, monkeypatch):
    """Versions and machine, each with whether it can move digits; what only an engine knows is left out."""
    known = environment.known()
    recorded = environment.joined(known, {"packages": {"torch": "1.0"}, "python": "3.2", "threads": 7})
    trainer[0].set_environment(queued.run_id, recorded)
    torch, python = again(trainer, queued).notes
    assert torch == f'environment: packages.torch was "1.0" and is "{known["packages"]["torch"]}"; this can move digits'
    assert python.startswith('environment: python was "3.2"')
    assert python.endswith("this moves no digits")


def test_an_environment_that_nobody_recorded_is_said_to_be_unknown(trainer, queued):
    """A run that has not begun has none yet."""
    assert "is not known" in again(trainer, queued).notes[0]


def test_the_same_environment_needs_no_word(trainer):
    """On an unchanged machine there are no notes."""
    run = parents.trained(*trainer)
    assert again(trainer, run).notes == ()


def test_a_repeat_trains_alike(trainer):
    """The chunks of its curves are the same, byte for byte."""
    run = parents.trained(*trainer)
    again(trainer, run)
    assert curve(trainer, parents.carry_out(*trainer)) == curve(trainer, run)


class TestChildren:
    """The repeat of a child starts from the same snapshot."""

    @pytest.fixture
    def snapshot(self, trainer):
        """A save at update 10."""
        return snapshot_of(trainer[0], parents.trained(*trainer), 10)

    @pytest.fixture
    def child(self, trainer, snapshot):
        """A child that waits."""
        return branch(*trainer, snapshot, {parents.RATE: 1e-3}, restore="trainingState")[0]

    def test_it_is_a_child_too(self, trainer, snapshot, child):
        """With the same source, restore, changes and plan; and it holds the snapshot."""
        (run,) = again(trainer, child, token="again").runs
        lineage = ("parent_run_id", "source_snapshot_id", "source_step", "restore", "changes", "changed", "plan")
        assert [getattr(run, name) for name in lineage] == [getattr(child, name) for name in lineage]
        assert run.run_id in trainer[0].snapshot(snapshot.snapshot_id).held_by

    def test_it_trains_alike(self, trainer, child):
        """From the same optimizer and place in the rows."""
        again(trainer, child, token="again")
        first, second = parents.carry_out(*trainer), parents.carry_out(*trainer)
        assert (first.run_id, second.repeats) == (child.run_id, child.run_id)
        assert curve(trainer, second) == curve(trainer, first)

    def test_it_counts_in_the_fan(self, trainer, child):
        """At most 50 from one snapshot: 49 more fit, 50 do not, and then nothing is stored."""
        with pytest.raises(errors.Exhausted, match=r"1 branch exists.*50 more make 51") as caught:
            again(trainer, child, times=50, token="again")
        assert caught.value.field == "times"
        assert trainer[0].runs().total == 2
        assert len(list(trainer[1].runs.iterdir())) == 2
        assert len(again(trainer, child, times=49, token="again").runs) == 49

    def test_a_fan_under_the_token_of_repeats_is_refused(self, trainer, snapshot, child):
        """A token is for one thing."""
        again(trainer, child, token="again")
        with pytest.raises(errors.Conflict, match="again"):
            branch(*trainer, snapshot, token="again")

    def test_a_file_that_is_gone_is_refused(self, trainer, snapshot, child):
        """What it would take up has to be there, and be what was saved."""
        parent = trainer[0].run(snapshot.run_id)
        next((trainer[1].path / parent.folder / "snapshots").glob("*10/training-state.pt")).unlink()
        with pytest.raises(errors.Refused, match=f"run {child.run_id} cannot be repeated"):
            again(trainer, child, token="again")

    def test_a_swept_artifact_is_refused_inside_the_transaction(self, trainer, child, monkeypatch):
        """Where it goes between the look and the submission."""
        monkeypatch.setattr(repeat, "_require_source", lambda *_: None)
        monkeypatch.setattr(rules, "require_artifact", lambda *_: (_ for _ in ()).throw(errors.Refused("swept")))
        with pytest.raises(errors.Refused, match="swept"):
            again(trainer, child, token="again")
        assert trainer[0].runs().total == 2
