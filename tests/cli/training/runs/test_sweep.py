"""`training runs sweep`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from inspect import signature
from typing import Any

import click
import pytest
from support.commands import Clients, RecordingApp, invoke
from support.commands_fake import ORIGIN, Answers
from support.fans import GRID, PARENT, SNAPSHOT, FanTrainer

from akka_optimize.actions.training.runs import origin as origins
from akka_optimize.actions.training.runs import sweep as action
from akka_optimize.cli.training.runs.sweep import sweep
from akka_optimize.core.points import RESTORES, child_run_id
from akka_optimize.errors import Invalid, Unreachable
from akka_optimize.records import FanRequest, Sweep

RATE, RANK = "hyperparams.optimizer.learningRate", "hyperparams.lora.rank"
POINTS = [{RATE: rate, RANK: rank} for rate in (1e-5, 5e-5, 2e-4) for rank in (8, 16)]
IDS = [child_run_id("t", point) for point in POINTS]
QUESTION = "Submit 6 child runs of 200 updates each? [y/N] "


@dataclass(frozen=True)
class Done:
    """How the command ended, what it emitted, and which methods it called; `built`: how many clients it made."""

    code: int
    out: str
    err: str
    emitted: list[Any]
    methods: list[str]
    built: int


@pytest.fixture
def carry_out(tmp_path, monkeypatch):
    """Carries out `training runs sweep PARENT … WORDS` in a folder with the grid `g.yaml`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.yaml").write_text(GRID)

    def carrying_out(words, trainer=None, *, grid="g.yaml", console=None, **options):
        trainer = trainer or FanTrainer()
        clients = Clients(trainer)
        app = RecordingApp(clients)
        app._console = console
        argv = ["training", "runs", "sweep", PARENT, "--snapshot", "3f2a", "--grid", grid]
        argv += [] if "--steps" in words else ["--steps", "200"]
        ended = invoke([*argv, *words.split()], app=app, **options)
        return Done(
            ended.code, ended.out, ended.err, app.emitted, [name for name, _ in trainer.calls], len(clients.asked)
        )

    return carrying_out


def test_a_dry_run_submits_nothing(carry_out):
    """One validation of all points, no question, and the fan as the record."""
    trainer = FanTrainer()
    done = carry_out("--dry-run --submission-id t", trainer)
    assert (done.code, done.methods, done.err) == (0, ["validate_branches"], "")
    (record,) = done.emitted
    assert isinstance(record, Sweep)
    assert [point.child_run_id for point in record.branches.points] == IDS
    assert trainer.calls[0][1] == FanRequest(PARENT, "3f2a", 200, "weights", "t", tuple(POINTS))


def test_force_submits_at_once(carry_out):
    """After validation, without a question."""
    done = carry_out("--force --submission-id t")
    assert (done.code, done.methods, done.err) == (0, ["validate_branches", "submit_branches"], "")
    assert done.emitted[0].dry_run is False


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("yes", 0), ("n", 1), ("", 1), (None, 1)])
def test_a_person_is_asked_after_validation(carry_out, answer, code):
    """The question counts what would start; only a yes submits."""
    console = Answers(answer)
    done = carry_out("", console=console)
    assert (done.code, console.asked) == (code, [QUESTION])
    assert done.methods == ["validate_branches"] + ([] if code else ["submit_branches"])


@pytest.mark.parametrize(("flag", "environ"), [("", {}), ("--disable-prompt", {}), ("", {"AKKA_DISABLE_PROMPTS": "1"})])
def test_where_nobody_can_be_asked_nothing_is_submitted(carry_out, flag, environ):
    """It is wrong usage, and the error names --force."""
    done = carry_out(flag, environ=environ)
    assert (done.code, done.out, done.methods) == (2, "", ["validate_branches"])
    assert "hint: --force" in done.err


def test_a_refused_point_costs_no_question(carry_out):
    """Nobody is asked about a fan that cannot be."""
    console = Answers("y")
    done = carry_out("", FanTrainer(validate_branches=Invalid("2 faulty points", field="points[0]")), console=console)
    assert (done.code, console.asked, done.methods) == (1, [], ["validate_branches"])
    assert "Error: 2 faulty points" in done.err


def test_jq_prints_bare_ids(carry_out):
    """Nothing else is on stdout; the token of ours is on stderr."""
    done = carry_out("--force --jq .points[].childRunId")
    token = done.emitted[0].branches.submission_id
    assert done.out.splitlines() == [child_run_id(token, point) for point in POINTS]
    assert done.err == (
        f"Submission token {token}: if the reply is lost, the same command with --submission-id {token} finds it\n"
    )


def test_quiet_says_nothing_but_the_result(carry_out):
    """The token is in the result, and with the children."""
    done = carry_out("--force -q -o json")
    assert done.err == ""
    assert json.loads(done.out)["submissionId"]


def test_a_lost_reply_is_told_with_the_token_even_when_quiet(carry_out):
    """Exit 3, and how to go on without a second child."""
    done = carry_out("--force -q", FanTrainer(submit_branches=Unreachable("gone")))
    assert (done.code, done.out) == (3, "")
    assert "starts no child twice" in done.err


def test_sent_again_under_its_token_it_starts_nothing(carry_out):
    """Every point reaches its child, and nobody is asked."""
    trainer = FanTrainer(dict.fromkeys(IDS, "TRAINING"))
    console = Answers(None)
    done = carry_out("--submission-id t", trainer, console=console)
    assert (done.code, console.asked, len(trainer.children)) == (0, [], 6)


def test_standard_input_is_the_grid(carry_out):
    """With --force it is submitted, with --dry-run it need not be."""
    for words in ("--force", "--dry-run"):
        done = carry_out(f"{words} --submission-id t", grid="-", stdin=GRID)
        assert (done.code, len(done.emitted[0].branches.points)) == (0, 6)


def test_standard_input_cannot_answer_as_well(carry_out):
    """Without --force it is wrong usage, found before the grid is read."""
    done = carry_out("", grid="-", stdin=GRID)
    assert (done.code, done.out, done.methods, done.built) == (2, "", [], 0)
    assert done.err == (
        "Error: --grid - reads the grid from stdin, which then cannot answer whether to submit it\n"
        "  hint: --force goes on without asking, --dry-run submits nothing\n"
    )


def test_the_next_command_repeats_where_and_how(carry_out):
    """The address and --force that were typed belong to the same command."""
    done = carry_out("--dry-run --force --submission-id t --trainer-url local:x")
    assert done.emitted[0].next_command == (
        f"akka-optimize training runs sweep {PARENT} --snapshot 3f2a --steps 200 --grid g.yaml "
        "--submission-id t --trainer-url local:x --force"
    )


def test_the_next_command_keeps_the_diff_where_it_starts_something(carry_out, monkeypatch):
    """After a dry run --include-diff belongs to it; the command that reads the children has no use for it."""
    monkeypatch.setattr(origins, "origin", lambda _included: ORIGIN)
    words = "--include-diff --force --submission-id t"
    assert carry_out(f"{words} --dry-run").emitted[0].next_command.endswith("--submission-id t --force --include-diff")
    assert "--include-diff" not in carry_out(words).emitted[0].next_command


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--steps 0", 2, "Error: --steps: '0' is not a whole number of 1 or more"),
        ("--steps -5", 2, "Error: --steps: '-5' is not a whole number of 1 or more"),
        ("--steps 1.5", 2, "Error: --steps: '1.5' is not a whole number of 1 or more"),
        ("--restore optimizer", 2, "Error: --restore: 'optimizer' is not one of 'weights', 'trainingState'."),
        ("--submission-id=", 2, 'Error: --submission-id: an empty value has no meaning here'),
        (f"--submission-id {'a' * 10240}", 2,
         f'Error: --submission-id: "{"a" * 58}… is 10240 characters long; write at most 128'),
        ("--submission-id a\x07b", 2,
         'Error: --submission-id: "a\\u0007b" holds the character U+0007 at position 2; write one line without'),
        ("--grid missing.yaml", 2, "Error: missing.yaml: no such file"),
        ("--grid .", 2, "Error: .: a directory, where the file of the grid belongs"),
        ("--restore trainingState", 1,
         f"Error: g.yaml:4:5: {RANK}: not under --restore trainingState, which takes {RATE} alone"),
        ("--compare", 2, "Error: there is no option --compare"),
        ("--jq .[", 2, "Error: --jq"),
    ],
    ids=lambda value: value[:24].strip() if isinstance(value, str) else None,
)  # fmt: skip
def test_what_is_refused_before_a_client_is_made(carry_out, words, code, message):
    """What the command line and the grid tell alone costs no request, and not even a connection."""
    done = carry_out(f"--force {words}")
    assert (done.code, done.out, done.methods, done.built) == (code, "", [], 0)
    assert done.err.startswith(message)


@pytest.mark.parametrize("option", ["--snapshot", "--steps", "--grid"])
def test_what_must_be_named(option):
    """It is wrong usage to leave it out."""
    given = {"--snapshot": "3f2a", "--steps": "200", "--grid": "g.yaml"}
    words = [word for name, value in given.items() if name != option for word in (name, value)]
    done = invoke(["training", "runs", "sweep", PARENT, *words, "--force"], FanTrainer())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {option} is missing")


def test_the_restores_on_offer_are_those_that_there_are():
    """The command writes them out, as it loads nothing of the core."""
    (option,) = (param for param in sweep.params if param.name == "restore")
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == RESTORES
    assert option.default == signature(action.request).parameters["restore"].default


def test_text_names_children_fan_and_what_comes_next(carry_out):
    """The table for a person, with the command to go on with."""
    done = carry_out("--force --submission-id t")
    assert all(child in done.out for child in IDS)
    assert "Fan        6 of at most 50 from this snapshot: 0 existing, 6 new" in done.out
    assert f"Snapshot   {SNAPSHOT[:12]} of {PARENT}, weights restored" in done.out
    assert done.out.endswith(f"Next       akka-optimize training runs branches {PARENT} --submission t\n")
