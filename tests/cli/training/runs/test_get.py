"""`training runs get`."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import call

from support.commands_fake import RUN, carry_out

from akka_optimize.errors import Ambiguous


def test_one_run_is_shown():
    """The reference goes to the service as it was typed."""
    done = carry_out("training runs get first")
    assert (done.code, done.emitted, done.calls) == (0, [RUN], [call.run("first")])


def test_settings_show_another_text_of_the_same_record():
    """Every setting by its path, those of the descriptor marked; the JSON stays the run's."""
    run = replace(RUN, config={"seed": 7}, execution={"gpus": 1}, stated=("config.seed",))
    done = carry_out("training runs get first --settings", run=run)
    assert done.emitted == [run]
    assert done.out.split("\n")[0].split() == ["config.seed", "7", "(stated)"]
    assert "(stated)" not in done.out.split("\n")[1]
    assert carry_out("training runs get first --settings --jq .config.seed", run=run).out == "7\n"


def test_an_ambiguous_prefix_lists_the_candidates():
    """The service's list reaches the user."""
    done = carry_out("training runs get 7d", run=Ambiguous("'7d' fits 2 runs: 7d49, 7d50"))
    assert (done.code, done.out) == (1, "")
    assert "7d49, 7d50" in done.err
