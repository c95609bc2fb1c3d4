"""`training runs hparams`."""

from __future__ import annotations

from unittest.mock import call

from support.commands_fake import RUN, carry_out

from akka_optimize.errors import NotFound
from akka_optimize.records import Hparams


def test_the_settings_and_their_hash_are_shown():
    """One request, one record."""
    done = carry_out("training runs hparams first")
    assert (done.code, done.calls) == (0, [call.hparams("first")])
    assert done.emitted == [Hparams(RUN.run_id, {"config.seed": 0}, "f" * 64)]


def test_a_run_whose_worker_has_not_begun_has_none():
    """It is refused, and not shown empty."""
    done = carry_out("training runs hparams first", hparams=NotFound("no hyperparameters yet"))
    assert (done.code, done.out) == (1, "")
