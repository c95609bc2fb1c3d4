"""`training runs annotate`."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import call

import pytest
from support.commands_fake import RUN, carry_out
from support.homes import CommandLine

from akka_optimize.errors import Exhausted

AFTER = replace(RUN, description="text")


def annotate(*words, **answers):
    """The command with these words."""
    return carry_out(
        ["training", "runs", "annotate", *words], annotate_run=answers.pop("annotate_run", AFTER), **answers
    )


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--comment", "seen"], {"comment": "seen", "description": None, "config_name": None}),
        (["--description", ""], {"comment": None, "description": "", "config_name": None}),
        (["--config-name", "rank 8"], {"comment": None, "description": None, "config_name": "rank 8"}),
        (
            ["--comment", "a", "--description", "b", "--config-name", ""],
            {"comment": "a", "description": "b", "config_name": ""},
        ),
    ],
)
def test_what_is_given_is_asked_for_and_the_run_is_shown(words, asked):
    """One request with what was typed, an empty text among it, and the run as it is afterwards."""
    done = annotate("first", *words)
    assert (done.code, done.emitted, done.calls) == (0, [AFTER], [call.annotate_run("first", **asked)])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "there is nothing to add"),
        (["--comment", ""], "--comment: an empty value has no meaning here"),
        (["--purpose", "another"], "--purpose"),
        (["--name", "another"], "--name"),
    ],
)
def test_nothing_to_add_is_wrong_usage(words, says):
    """Found before any request; a name and a purpose cannot be given at all."""
    done = annotate("first", *words)
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert says in done.err


def test_what_the_trainer_refuses_is_the_commands_error():
    """A limit is told as it is."""
    done = annotate("first", "--comment", "one more", annotate_run=Exhausted("run 7d49 takes 1000 comments"))
    assert (done.code, done.out) == (1, "")
    assert "takes 1000 comments" in done.err


def test_over_a_real_trainer(tmp_path):
    """The label is there, cleared again, and refused with the field's name where it is none."""
    shell = CommandLine(tmp_path / "home").prepare()
    run = shell.start("name=first", "purpose=to be looked at", wait=True)
    words = ["training", "runs", "annotate", "first"]
    assert shell.json([*words, "--config-name", "rank 8", "--comment", "seen"])["configName"] == "rank 8"
    after = shell.json([*words, "--config-name", ""])
    assert (after["runId"], after["configName"], after["purpose"]) == (run, None, "to be looked at")
    bad = shell([*words, "--config-name", "two\nlines"])
    assert (bad.code, bad.out) == (1, "")
    assert "configName: the text holds a line end at position 4" in bad.err
    blank = shell([*words, "--comment", " "])
    assert (blank.code, blank.out) == (1, "")
    assert shell("training runs verify first").code == 0
