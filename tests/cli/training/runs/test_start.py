"""`training runs start`."""

from __future__ import annotations

import re
from dataclasses import replace
from unittest.mock import call

import pytest
from support.commands_fake import DESCRIPTOR, EVENT, ORIGIN, RESOLVED, RUN, Answers, carry_out

from akka_optimize.errors import Invalid, TimedOut, Unreachable

DOCUMENT = {"kind": "run", "config": {"seed": 0}}
CHECKED = [call.validate_run(DOCUMENT)]


class Token:
    """Equal to any token that the command makes: words that are read as text, however they are typed."""

    def __eq__(self, other):
        return re.fullmatch("start-[0-9a-f]{24}", other) is not None

    __hash__ = None


SENT = call.start_run({**DOCUMENT, "submissionId": Token()}, origin=ORIGIN)
FOLLOWED = [call.run(RUN.run_id), call.watch_run(RUN.run_id, timeout=None), call.run(RUN.run_id)]


def start(words="", **options):
    """The command with a small descriptor on stdin."""
    return carry_out(f"training runs start -f - {words}", stdin=DESCRIPTOR, **options)


def test_force_starts_at_once():
    """One request, and the queued run is the record emitted."""
    done = start("--force")
    assert (done.code, done.emitted, done.calls, done.err) == (0, [RUN], [SENT], "")


def test_a_token_of_the_users_own_is_sent_as_it_is():
    """It is checked first, so that the trainer's notes say whether it has started its run already."""
    notes = ("submission 'mine' started run 7d496e82c3a15f04 already",)
    done = start("--force --set submissionId=mine", validate_run=replace(RESOLVED, notes=notes))
    asked = {**DOCUMENT, "submissionId": "mine"}
    assert (done.code, done.emitted) == (0, [RUN])
    assert done.calls == [call.validate_run(asked), call.start_run(asked, origin=ORIGIN)]
    assert done.err == f"Note: {notes[0]}\n"


@pytest.mark.parametrize(
    ("error", "code"), [(Unreachable("gone"), 3), (TimedOut("late"), 3), (KeyboardInterrupt(), 130)], ids=type
)
def test_a_lost_reply_is_told_with_the_way_to_ask_again(error, code):
    """Even when quiet; with that option the command sends the very same request."""
    done = start("--force -q", start_run=error)
    assert (done.code, done.out) == (code, "")
    option = re.search(r"the same command with --set (submissionId=start-\w+) starts no second run", done.err)
    assert option is not None, done.err
    again = start(f"--force --set {option[1]}")
    assert again.calls[-1] == done.calls[-1]


def test_a_lost_reply_under_a_token_of_the_users_own():
    """The command as it is reaches the run."""
    done = start("--force -q --set submissionId=mine", start_run=TimedOut("late"))
    assert done.code == 3
    assert "the same command again reaches the run, and starts no second one" in done.err


def test_a_trainer_that_was_not_reached_started_nothing():
    """Nobody is told to look for a run that cannot be."""
    error = Unreachable("no trainer answers", hint="start one")
    error.sent = False
    done = start("--force", start_run=error)
    assert (done.code, done.err) == (3, "Error: no trainer answers\n  hint: start one\n")


def test_a_file_is_read(tmp_path):
    """-f names a file, in YAML or JSON."""
    path = tmp_path / "run.json"
    path.write_text('{"kind": "run", "config": {"seed": 0}}')
    assert carry_out(["training", "runs", "start", "-f", str(path), "--force"]).calls == [SENT]


def test_set_changes_the_document():
    """Assignments apply in order, below `config` where a plan's path is written, with the types of a document."""
    done = start("--force --set config.seed=1 --set config.seed=2 --set hyperparams.lora.rank=16 --set name=1e-5x")
    (sent,) = done.calls
    assert sent == call.start_run(
        {
            "kind": "run",
            "name": "1e-5x",
            "config": {"seed": 2, "hyperparams": {"lora": {"rank": 16}}},
            "submissionId": Token(),
        },
        origin=ORIGIN,
    )


@pytest.mark.parametrize("assignment", ["seed", "=1", "kind.deeper=1"])
def test_an_assignment_that_is_none(assignment):
    """It is wrong usage, found before any request."""
    done = start(f"--force --set {assignment}")
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert "--set" in done.err


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1), (None, 1)])
def test_a_person_is_asked(answer, code):
    """The question names what would start, after the notes that validation brought; only a yes starts it."""
    console = Answers(answer)
    done = start(console=console)
    assert (done.code, done.calls) == (code, CHECKED if code else [*CHECKED, SENT])
    assert console.asked == ["Start 40 updates under plan e14ea5ff5f88? [y/N] "]
    assert "Note: no purpose is stated" in done.err


@pytest.mark.parametrize(("flag", "environ"), [("", {}), ("--disable-prompt", {}), ("", {"AKKA_DISABLE_PROMPTS": "1"})])
def test_where_nobody_can_be_asked_nothing_starts(flag, environ):
    """It is wrong usage, and the error names --force."""
    done = start(flag, environ=environ)
    assert (done.code, done.out, done.calls) == (2, "", CHECKED)
    assert "--force" in done.err


def test_a_descriptor_that_is_wrong_is_refused_before_the_question():
    """Nobody is asked about a run that cannot be."""
    console = Answers("y")
    done = start(console=console, validate_run=Invalid("config.seed: -1 is not 0 or more", field="config.seed"))
    assert (done.code, done.out, console.asked) == (1, "", [])
    assert "field: config.seed" in done.err


def test_a_dry_run_starts_nothing():
    """It asks nothing, and emits what the descriptor resolves to."""
    done = start("--dry-run")
    assert (done.code, done.emitted, done.calls) == (0, [RESOLVED], CHECKED)
    assert "config.seed" not in done.out


def test_show_resolved_shows_every_setting():
    """The same record, another text."""
    done = start("--dry-run --show-resolved")
    assert (done.code, done.emitted) == (0, [RESOLVED])
    assert "config.seed" in done.out


def test_wait_follows_the_run_to_its_end():
    """Each event goes to stderr, the run as it ended is emitted, and nothing is asked in between."""
    done = start("--force --wait")
    assert (done.code, done.emitted) == (0, [RUN])
    assert done.calls == [SENT, *FOLLOWED]
    assert done.err == "7d496e82c3a15f04  Completed  step 40/40  loss 1.2500\n"


def test_quiet_follows_in_silence():
    """-q keeps events to itself."""
    assert start("--force --wait -q").err == ""


@pytest.mark.parametrize(("phase", "code"), [("COMPLETED", 0), ("FAILED", 5), ("CANCELLED", 5)])
def test_exit_status_tells_how_it_ended(phase, code):
    """5 unless the run completed; the record is emitted in any case."""
    ended = replace(RUN, phase=phase)
    done = start("--force --wait --exit-status", run=ended, watch_run=[replace(EVENT, phase=phase)])
    assert (done.code, done.emitted) == (code, [ended])
    without = start("--force --wait", run=ended, watch_run=[replace(EVENT, phase=phase)])
    assert without.code == 0


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("--show-resolved --force", "add --dry-run"),
        ("--dry-run --wait", "leave one of them out"),
        ("--exit-status --force", "add --wait"),
        ("--exit-status --dry-run", "add --wait"),
    ],
)
def test_options_that_contradict_each_other(words, hint):
    """They are wrong usage, found before the descriptor is sent anywhere."""
    done = start(words)
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert hint in done.err


def test_a_descriptor_that_is_no_mapping():
    """It is refused before any request, with where to get one."""
    done = carry_out("training runs start -f - --force", stdin="[1, 2]")
    assert (done.code, done.out, done.calls) == (1, "", [])
    assert "training runs init" in done.err
