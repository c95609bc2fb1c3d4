"""What a sweep asks of a trainer, in which order, and what it says on the way."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import pytest
from support.fans import GRID, PARENT, SNAPSHOT, FanTrainer

from akka_optimize.actions.training.runs.sweep import request, sweep
from akka_optimize.core.points import child_run_id
from akka_optimize.errors import AkkaError, Exhausted, Internal, Interrupted, Refused, TimedOut, Unreachable, WrongUsage
from akka_optimize.records import FanRequest

RATE, RANK = "hyperparams.optimizer.learningRate", "hyperparams.lora.rank"
POINTS = [{RATE: rate, RANK: rank} for rate in (1e-5, 5e-5, 2e-4) for rank in (8, 16)]
IDS = [child_run_id("t", point) for point in POINTS]


@pytest.fixture
def grid(tmp_path):
    """A file with the grid."""
    path = tmp_path / "g.yaml"
    path.write_text(GRID)
    return str(path)


@pytest.fixture
def carry_out(grid):
    """Carries out a sweep; what was told and asked is in `log`."""

    def carrying_out(trainer, log=None, *, dry_run=False, refuse=False, **options):
        log = [] if log is None else log

        def confirm(question):
            log.append(("confirm", question))
            if refuse:
                raise Refused("no")

        asked = request(PARENT, **{"snapshot": "3f2a", "steps": 200, "grid": grid, "submission_id": "t"} | options)
        return sweep(trainer, asked, dry_run=dry_run, told=lambda text: log.append(("told", text)), confirm=confirm)

    return carrying_out


def asked_for(**changed):
    """What is asked for the six points."""
    return replace(FanRequest(PARENT, "3f2a", 200, "weights", "t", tuple(POINTS)), **changed)


def test_a_dry_run_validates_and_stops(carry_out):
    """One call, with every point, last axis fastest; nothing is asked or stored, and the ids are there."""
    trainer, log = FanTrainer(), []
    found = carry_out(trainer, log, dry_run=True)
    assert trainer.calls == [("validate_branches", asked_for())]
    assert (log, trainer.children) == ([], {})
    assert [point.child_run_id for point in found.branches.points] == IDS
    assert (found.dry_run, [axis.path for axis in found.axes]) == (True, [RATE, RANK])


def test_a_submission_validates_asks_and_submits(carry_out):
    """In this order, the two calls with the same arguments; the children are those of the dry run."""
    trainer, log = FanTrainer(), []
    found = carry_out(trainer, log)
    assert trainer.calls == [("validate_branches", asked_for()), ("submit_branches", asked_for())]
    assert log == [("confirm", "Submit 6 child runs of 200 updates each?")]
    assert list(trainer.children) == IDS == [point.child_run_id for point in found.branches.points]
    assert not found.dry_run


def test_nothing_is_submitted_when_the_answer_is_no(carry_out):
    """The refusal comes out."""
    trainer = FanTrainer()
    with pytest.raises(Refused):
        carry_out(trainer, refuse=True)
    assert [method for method, _ in trainer.calls] == ["validate_branches"]


@pytest.mark.parametrize("method", ["validate_branches", "submit_branches"])
def test_what_the_trainer_refuses_comes_out_as_it_is(carry_out, method):
    """Its own error, with its hint."""
    error = Exhausted("too many", field="points", hint="fewer")
    with pytest.raises(Exhausted) as caught:
        carry_out(FanTrainer(**{method: error}))
    assert caught.value is error


@pytest.mark.parametrize(
    ("children", "steps", "question"),
    [
        pytest.param(IDS[:4], 200, "Submit 2 child runs of 200 updates each?", id="some-there"),
        pytest.param(IDS[:5], 1, "Submit 1 child run of 1 update each?", id="one-left"),
    ],
)
def test_the_question_counts_what_is_new(carry_out, children, steps, question):
    """Points that have their child cost nothing."""
    log = []
    carry_out(FanTrainer(dict.fromkeys(children, "COMPLETED")), log, steps=steps)
    assert log == [("confirm", question)]


def test_nothing_new_asks_nothing(carry_out):
    """The submission is sent again all the same, and reaches what exists."""
    trainer, log = FanTrainer(dict.fromkeys(IDS, "TRAINING")), []
    found = carry_out(trainer, log)
    assert log == []
    assert [method for method, _ in trainer.calls] == ["validate_branches", "submit_branches"]
    assert all(point.existing and point.phase == "TRAINING" for point in found.branches.points)


def test_a_token_of_ours_is_told_before_anything_is_sent(carry_out):
    """32 hex digits, another for each sweep, told while no call was made yet."""

    class Listening(list):
        def append(self, entry):
            super().append((*entry, len(trainer.calls)))

    trainer, tokens = FanTrainer(), []
    for _ in range(2):
        trainer.calls.clear()
        log = Listening()
        found = carry_out(trainer, log, submission_id=None, dry_run=True)
        tokens.append(found.branches.submission_id)
        ((kind, text, calls),) = log
        assert (kind, calls) == ("told", 0)
        assert tokens[-1] in text
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)
    assert tokens[0] != tokens[1]


def test_a_token_that_was_given_is_not_told(carry_out):
    """The user has it."""
    log = []
    carry_out(FanTrainer(), log, dry_run=True)
    assert log == []


@pytest.mark.parametrize("error", [Unreachable("gone", hint="start it"), TimedOut("late")], ids=["gone", "late"])
def test_a_lost_reply_names_the_token(carry_out, error):
    """Whether the submission arrived is not known, and what to do is said, in the error's own class."""
    with pytest.raises(type(error)) as caught:
        carry_out(FanTrainer(submit_branches=error))
    assert caught.value.message == error.message
    assert caught.value.hint == "it may have arrived; the same command with --submission-id t starts no child twice"


@pytest.mark.parametrize("error", [Unreachable("gone", hint="start it"), Internal("bug")], ids=["gone", "bug"])
def test_a_validation_that_is_lost_is_no_submission(carry_out, error):
    """Nothing can have arrived, so the error stays as it is."""
    with pytest.raises(AkkaError) as caught:
        carry_out(FanTrainer(validate_branches=error))
    assert caught.value is error


def test_notes_are_told_once(carry_out):
    """Before the question, and not again when the submission brings the same."""
    log = []
    carry_out(FanTrainer(notes=["the rank is cut"]), log)
    assert log == [("told", "Note: the rank is cut"), ("confirm", "Submit 6 child runs of 200 updates each?")]


def test_a_description_is_sent_and_what_it_changes_is_the_trainers_to_tell(carry_out):
    """Nothing is said of it that the trainer's notes do not say."""
    log = []
    trainer = FanTrainer(dict.fromkeys(IDS[:2], "QUEUED"), notes=["2 keep theirs"])
    carry_out(trainer, log, description="wider", dry_run=True)
    assert trainer.calls == [("validate_branches", asked_for(description="wider"))]
    assert log == [("told", "Note: 2 keep theirs")]


def test_a_trainer_that_was_not_reached_has_no_submission(carry_out):
    """Where it is certain that nothing was sent, nobody is told to look for it."""
    error = Unreachable("gone", hint="start it")
    error.sent = False
    with pytest.raises(Unreachable) as caught:
        carry_out(FanTrainer(submit_branches=error))
    assert caught.value is error


def test_an_interrupt_while_submitting_names_the_token(carry_out):
    """Ctrl-C ends the command with how to find out what arrived; before that there is nothing to find."""
    with pytest.raises(Interrupted) as caught:
        carry_out(FanTrainer(submit_branches=KeyboardInterrupt()))
    assert caught.value.hint == "it may have arrived; the same command with --submission-id t starts no child twice"
    with pytest.raises(KeyboardInterrupt):
        carry_out(FanTrainer(validate_branches=KeyboardInterrupt()))


@pytest.mark.parametrize(
    ("token", "message"),
    [
        pytest.param("", '--submission-id: "" is empty; write some text', id="empty"),
        pytest.param(" ", '--submission-id: " " is empty; write some text', id="blank"),
        pytest.param("a b", '--submission-id: "a b" holds a space; write a token without', id="space"),
        pytest.param(
            "a\n", '--submission-id: "a\\n" holds a line end at position 2; write one line without', id="line"
        ),
        pytest.param(
            "\x1b[2J",
            '--submission-id: "\\u001b[2J" holds the character U+001B at position 1; write one line without',
            id="control-character",
        ),
        pytest.param(
            "a\udcff",
            '--submission-id: "a\\udcff" holds the character U+DCFF at position 2; write one line without',
            id="no-text",
        ),
        pytest.param(
            "a" * 10_240,
            f'--submission-id: "{"a" * 58}… is 10240 characters long; write at most 128',
            id="ten-kilobytes",
        ),
        pytest.param("a" * 129, f'--submission-id: "{"a" * 58}… is 129 characters long; write at most 128', id="129"),
    ],
)
def test_tokens_that_are_none(carry_out, token, message):
    """They are wrong usage, found before anything is read or sent."""
    trainer = FanTrainer()
    with pytest.raises(WrongUsage) as caught:
        carry_out(trainer, submission_id=token, grid="missing.yaml")
    assert (str(caught.value), trainer.calls) == (message, [])


@pytest.mark.parametrize("token", ["a", "a" * 128, "-x", "é", "9f14c0a7", "'quoted'"])
def test_tokens_that_are_taken(carry_out, token):
    """One to 128 printable characters without a space, sent as they are."""
    assert carry_out(FanTrainer(), submission_id=token).branches.submission_id == token


NEXT = f"akka-optimize training runs sweep {PARENT} --snapshot 3f2a --steps 200 --grid"


def test_the_command_after_a_dry_run_is_the_same_with_the_token(carry_out, grid):
    """Without --dry-run; what is the default is left out."""
    assert carry_out(FanTrainer(), dry_run=True).next_command == f"{NEXT} {shlex.quote(grid)} --submission-id t"


def test_the_command_after_a_dry_run_repeats_every_option(carry_out, tmp_path):
    """Split by a shell, it is what was typed, whatever characters that holds."""
    odd = tmp_path / "it's a $grid.yaml"
    odd.write_text(f"axes:\n- path: {RATE}\n  values: [1.0e-5]\n")
    found = carry_out(
        FanTrainer(),
        dry_run=True,
        grid=str(odd),
        restore="trainingState",
        description="why not; rm -rf 'x'",
        submission_id="$t'",
        repeated=("--trainer-url", "local:/a b", "--force"),
    )
    assert shlex.split(found.next_command) == [
        *NEXT.split(), str(odd), "--restore", "trainingState", "--description", "why not; rm -rf 'x'",
        "--submission-id", "$t'", "--trainer-url", "local:/a b", "--force",
    ]  # fmt: skip


def test_the_command_after_a_dry_run_from_standard_input_needs_force(monkeypatch, carry_out):
    """Standard input is the grid's there, too."""
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GRID.encode())))
    assert carry_out(FanTrainer(), dry_run=True, grid="-").next_command == f"{NEXT} - --submission-id t --force"


def test_the_command_after_a_submission_lists_its_children(carry_out):
    """By the parent's whole id, at the same trainer."""
    found = carry_out(FanTrainer(), submission_id="a'b", repeated=("--trainer-url", "local:x", "--force"))
    assert shlex.split(found.next_command) == [
        "akka-optimize", "training", "runs", "branches", PARENT, "--submission", "a'b", "--trainer-url", "local:x",
    ]  # fmt: skip
    assert found.branches.snapshot_id == SNAPSHOT
