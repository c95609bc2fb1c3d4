"""What commands that start runs record of the current folder, and when they look at it."""

from __future__ import annotations

import pytest
from support.commands_fake import DESCRIPTOR, ORIGIN, carry_out

from akka_optimize.actions.training.runs import origin as action
from akka_optimize.cli.training.runs.origin_option import origin
from akka_optimize.errors import Exhausted

GRID = "axes:\n  - path: seed\n    values: [1, 2]\n"


@pytest.fixture
def looked(monkeypatch):
    """How the folder was looked at."""
    calls = []

    def look(included):
        calls.append(included)
        return ORIGIN

    monkeypatch.setattr(action, "origin", look)
    return calls


@pytest.mark.parametrize(
    ("included", "dry_run", "found"),
    [(False, False, [False]), (True, False, [True]), (False, True, []), (True, True, [True])],
)
def test_a_dry_run_looks_only_when_the_diff_is_asked_for(looked, included, dry_run, found):
    """Then to see whether it could be kept."""
    assert origin(included, dry_run=dry_run) == (ORIGIN if found else None)
    assert looked == found


@pytest.mark.parametrize(
    ("command", "stdin", "sent"),
    [
        ("start -f -", DESCRIPTOR, "start_run"),
        ("branch first --snapshot 3f2a --steps 40", "", "submit_branches"),
        ("sweep first --snapshot 3f2a --steps 40 --grid -", GRID, "submit_branches"),
        ("continue first --snapshot 3f2a --steps 40", "", "submit_branches"),
        ("repeat first", "", "repeat_run"),
    ],
)
def test_every_command_that_starts_runs_sends_the_origin(command, stdin, sent):
    """With its request, where the server keeps it."""
    done = carry_out(f"training runs {command} --force --include-diff", stdin=stdin)
    (made,) = [each for each in done.calls if each[0] == sent]
    assert ORIGIN in (made.kwargs.get("origin"), getattr(made.args[0], "origin", None))


@pytest.mark.parametrize("words", ["list", "get first", "compare first second", "start --help", "repeat --help"])
def test_commands_that_start_nothing_do_not_look(words):
    """Neither does help."""
    assert carry_out(f"training runs {words}", origin=AssertionError("looked")).code == 0


def test_a_diff_that_is_too_long_starts_nothing():
    """It is refused before any request."""
    raised = Exhausted("--include-diff: too long")
    done = carry_out("training runs start -f - --force --include-diff", stdin=DESCRIPTOR, origin=raised)
    assert (done.code, done.calls) == (1, [])
    assert "--include-diff" in done.err
