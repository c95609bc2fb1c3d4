"""`training runs pause` and `training runs resume`."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import call

import pytest
from support.commands_fake import RUN, carry_out

from akka_optimize.errors import NotFound, Refused

ASKED, PAUSED = replace(RUN, phase="TRAINING"), replace(RUN, phase="PAUSED")
QUEUED = replace(RUN, phase="QUEUED")


@pytest.mark.parametrize("checkpoint", ["save", "latest"])
@pytest.mark.parametrize(("answer", "said"), [(ASKED, "Asked to pause"), (PAUSED, "")])
def test_pausing_is_one_request(checkpoint, answer, said):
    """The checkpoint goes as it was typed, the run comes back, and it is said when it pauses only later."""
    done = carry_out(f"training runs pause first --checkpoint {checkpoint}", pause_run=answer)
    assert (done.code, done.emitted) == (0, [answer])
    assert done.calls == [call.pause_run("first", checkpoint=checkpoint)]
    assert bool(done.err) == bool(said)
    assert said in done.err


@pytest.mark.parametrize(
    "words",
    ["pause first", "pause first --checkpoint soon", "pause --checkpoint save", "resume", "resume first second"],
)
def test_wrong_usage(words):
    """A checkpoint has to be chosen, and one run named; nothing is asked."""
    done = carry_out(f"training runs {words}")
    assert (done.code, done.out, done.calls) == (2, "", [])


def test_resuming_is_one_request():
    """The run comes back as it waits, and it is said that a worker goes on with it."""
    done = carry_out("training runs resume first", resume_run=QUEUED)
    assert (done.code, done.emitted, done.calls) == (0, [QUEUED], [call.resume_run("first")])
    assert "Queued" in done.err


@pytest.mark.parametrize("error", [Refused("run is COMPLETED", hint="repeat"), NotFound("no such run")])
@pytest.mark.parametrize("words", ["pause first --checkpoint save", "resume first"])
def test_what_the_trainer_refuses(words, error):
    """Exit 1, the reason and what to do, and no record."""
    done = carry_out(f"training runs {words} -q", pause_run=error, resume_run=error)
    assert (done.code, done.out, done.emitted) == (1, "", [])
    assert error.message in done.err
    assert (error.hint or "") in done.err
