"""`training runs continue`."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import ANY, call

import pytest
from support.commands_fake import CHILD, EVENT, FAN, ORIGIN, RUN, SNAPSHOT, Answers, carry_out

from akka_optimize.errors import Invalid, NotFound
from akka_optimize.records import Artifact, FanRequest, Page

WORDS = "training runs continue first --steps 40"
OVERRIDES = "hyperparams:\n  training: {validationFrequencySteps: 5}\n"
WHOLE = replace(
    SNAPSHOT,
    snapshot_id="b" * 64,
    artifacts=tuple(Artifact(k, "d", 9, swept=False) for k in ("weights", "trainingState")),
)
SWEPT = replace(
    SNAPSHOT,
    snapshot_id="a" * 64,
    artifacts=(Artifact("weights", "d", 9, swept=False), Artifact("trainingState", "d", 9, swept=True)),
)


def asked(point, *, snapshot="b" * 64, token=ANY):
    """The one request that it makes."""
    return FanRequest("first", snapshot, 40, "trainingState", token, (point,), origin=ORIGIN, continues=True)


def go_on(words="", **other):
    """Carry it out where the newest snapshot has lost its training state."""
    return carry_out(f"{WORDS} {words}", **({"snapshots": Page((SWEPT, WHOLE), 0, 2), "run": CHILD} | other))


def test_it_goes_on_from_the_newest_training_state():
    """One that was swept is passed over; the child is looked up by its id and emitted."""
    done = go_on("--force")
    assert (done.code, done.emitted) == (0, [CHILD])
    assert done.calls == [
        call.snapshots("first", limit=100, offset=0),
        call.submit_branches(asked({})),
        call.run(CHILD.run_id),
    ]


def test_pages_are_turned():
    """Until a snapshot that holds a training state is found."""

    def snapshots(ref, *, limit, offset):
        return Page((WHOLE,) if offset == 200 else (SWEPT,) * 100, offset, 201)

    done = go_on("--force", snapshots=snapshots)
    assert done.code == 0
    assert [made.kwargs["offset"] for made in done.calls[:3]] == [0, 100, 200]
    assert done.calls[3] == call.submit_branches(asked({}))


@pytest.mark.parametrize(
    ("snapshots", "said"),
    [
        pytest.param((), "has saved nothing yet", id="none"),
        pytest.param((SWEPT, SWEPT), "nothing that run first saved holds a training state", id="all-swept"),
    ],
)
def test_nothing_to_go_on_from(snapshots, said):
    """It is said why, and nothing is submitted."""
    done = go_on("--force", snapshots=Page(snapshots, 0, len(snapshots)))
    assert (done.code, len(done.calls)) == (1, 1)
    assert said in done.err


def test_a_snapshot_of_the_users_own_is_sent_as_it_is():
    """No other one is looked for."""
    done = go_on("--force --snapshot 3f2a")
    assert done.calls[0] == call.submit_branches(asked({}, snapshot="3f2a"))


def test_overrides_become_one_point():
    """By path; which paths may change is the trainer's to say."""
    done = go_on("--force --overrides -", stdin=OVERRIDES)
    assert done.calls[1] == call.submit_branches(asked({"hyperparams.training.validationFrequencySteps": 5}))


def test_what_the_trainer_refuses():
    """Exit 1, and the path that cannot change."""
    wrong = Invalid("hyperparams.lora.rank: 8: a run that is continued takes …", field="hyperparams.lora.rank")
    done = go_on("--force", submit_branches=wrong)
    assert (done.code, done.out) == (1, "")
    assert "hyperparams.lora.rank" in done.err
    assert go_on("--force", snapshots=NotFound("no such run")).code == 1


def test_the_token_is_told_with_the_snapshot():
    """The newest may be another one when the command is typed again."""
    done = go_on("--force")
    token = done.calls[1].args[0].submission_id
    assert f"--submission-id {token} --snapshot {'b' * 12}" in done.err
    assert go_on("--force -q --submission-id mine").err == ""


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
def test_a_person_is_asked_after_the_child_was_checked(answer, code):
    """Only a yes submits it."""
    done = go_on(console=Answers(answer))
    made = ["snapshots", "validate_branches", "submit_branches", "run"]
    assert (done.code, [each[0] for each in done.calls]) == (code, made[: 2 if code else 4])


def test_a_dry_run_submits_nothing():
    """It emits what the child resolves to."""
    done = go_on("--dry-run")
    assert (done.code, done.emitted) == (0, [FAN])
    assert [each[0] for each in done.calls] == ["snapshots", "validate_branches"]


def test_wait_follows_the_child():
    """And --exit-status tells how it ended."""
    done = go_on("--force --wait --exit-status", run=replace(RUN, phase="FAILED"), watch_run=[EVENT])
    assert call.watch_run(RUN.run_id, timeout=None) in done.calls
    assert done.code == 5


@pytest.mark.parametrize(
    "words",
    ["--dry-run --wait", "--exit-status --force", "--overrides -", "--steps 0 --force", "--restore weights --force"],
)
def test_options_that_contradict_each_other(words):
    """Wrong usage, found before any request; what it takes up is no option."""
    done = go_on(words, stdin=OVERRIDES)
    assert (done.code, done.out, done.calls) == (2, "", [])


@pytest.mark.parametrize("overrides", ["- a\n", "3\n"])
def test_overrides_are_a_mapping(overrides):
    """A list or a number changes no field; found before any request."""
    done = go_on("--overrides - --force", stdin=overrides)
    assert (done.code, done.calls) == (1, [])
    assert "mapping" in done.err
