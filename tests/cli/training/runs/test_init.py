"""`training runs init`."""

from __future__ import annotations

import pytest
from support.commands_fake import carry_out

from akka_optimize import documents
from akka_optimize.core import descriptor

ARGV = "training runs init --workload triage --dataset rows"


def test_a_descriptor_is_printed_and_nobody_asked():
    """The text is a descriptor that resolves as it stands; no trainer is needed to write it."""
    done = carry_out(ARGV)
    assert (done.code, done.calls, done.emitted) == (0, [], [])
    wanted = descriptor.resolve(documents.parse(done.out, source="run.yaml"))
    assert wanted.descriptor["workload"] == "triage"
    assert wanted.config["dataset"] == "rows"
    assert wanted.descriptor["baseModel"] == "akka/byte-decoder-1m"


def test_what_is_named_is_filled_in():
    """--base-model, --name and --purpose stand in the descriptor, whatever signs they hold."""
    done = carry_out([*ARGV.split(), "--base-model", "akka/m", "--name", "a-1", "--purpose", 'is "it": #1?'])
    found = documents.parse(done.out, source="run.yaml")
    assert (found["baseModel"], found["name"], found["purpose"]) == ("akka/m", "a-1", 'is "it": #1?')


@pytest.mark.parametrize("missing", ["--workload", "--dataset"])
def test_a_descriptor_needs_both(missing):
    """A run without a workload or without rows cannot be."""
    words = ARGV.split()
    at = words.index(missing)
    done = carry_out(words[:at] + words[at + 2 :])
    assert (done.code, done.out) == (2, "")
    assert f"{missing} is missing" in done.err


@pytest.mark.parametrize("words", ["-o json", "--json name", "--jq .name"])
def test_it_prints_no_record(words):
    """What shapes a record is refused, and not ignored."""
    done = carry_out(f"{ARGV} {words}")
    assert (done.code, done.out) == (2, "")
    assert "this command prints no record" in done.err
