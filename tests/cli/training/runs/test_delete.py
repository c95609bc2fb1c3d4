"""`training runs delete`."""

from __future__ import annotations

from unittest.mock import call

import pytest
from support.commands_fake import RUN, Answers, carry_out

from akka_optimize.errors import Refused


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), (None, 1)])
def test_a_person_is_asked(answer, code):
    """The question names the run; only a yes deletes it."""
    console = Answers(answer)
    done = carry_out("training runs delete first", console=console)
    assert done.calls == [call.run("first"), call.delete_run(RUN.run_id)][: 1 if code else 2]
    assert (done.code, console.asked) == (code, ["Delete run 7d496e82c3a15f04 (first) and all its files? [y/N] "])


def test_where_nobody_can_be_asked_nothing_is_deleted():
    """It is wrong usage, and the error names --force."""
    done = carry_out("training runs delete first")
    assert (done.code, done.calls) == (2, [call.run("first")])
    assert "--force" in done.err


def test_force_deletes_at_once():
    """The deleted run's last record is emitted."""
    done = carry_out("training runs delete first --force")
    assert (done.code, done.emitted) == (0, [RUN])


def test_a_run_that_is_held_is_refused():
    """The service's refusal is the command's."""
    done = carry_out("training runs delete first --force", delete_run=Refused("run 7d49 has 2 child runs"))
    assert (done.code, done.out) == (1, "")
    assert "2 child runs" in done.err
