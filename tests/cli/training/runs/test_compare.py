"""`training runs compare`."""

from __future__ import annotations

from unittest.mock import call

import numpy as np
import pytest
from support.commands_fake import BASELINE, RUN, carry_out
from support.curves import column

from akka_optimize.errors import NotFound
from akka_optimize.records import Comparison, Metrics


def curves(loss):
    """Metrics of one run for RUN, and constant ones for its baseline."""
    flat = Metrics({"loss": column(np.ones(len(loss))), "gradNorm": column(np.ones(len(loss)))})
    mine = Metrics({"loss": column(loss), "gradNorm": column(np.ones(len(loss)))})

    def metrics(ref, *, columns):
        return mine if ref == RUN.run_id else flat

    return metrics


def test_one_comparison_is_emitted():
    """Both runs are looked up, then the loss and the gradient norm of each, and no other column."""
    done = carry_out("training runs compare first second")
    (comparison,) = done.emitted
    assert isinstance(comparison, Comparison)
    assert (comparison.run, comparison.baseline) == (RUN, BASELINE)
    wanted = ("loss", "gradNorm")
    assert done.calls == [
        call.run("first"),
        call.run("second"),
        call.metrics(RUN.run_id, columns=wanted),
        call.metrics(BASELINE.run_id, columns=wanted),
    ]


def test_the_seeds_defaults():
    """Windows of 10 steps, a margin of 0.03, spikes from ten times the median."""
    curves = carry_out("training runs compare first second").emitted[0].curves
    assert (curves.window, curves.margin, curves.spike_factor) == (10, 0.03, 10.0)


def test_the_options_reach_the_comparison():
    """--window, --margin and --spike-factor are what is computed with."""
    argv = "training runs compare first second --window 2 --margin 0.5 --spike-factor 1e1"
    curves = carry_out(argv).emitted[0].curves
    assert (curves.window, curves.margin, curves.spike_factor) == (2, 0.5, 10.0)


VERDICTS = [
    pytest.param(np.ones(20), 0, id="no-parting"),
    pytest.param(np.full(20, 2.0), 5, id="parted"),
    pytest.param(np.full(9, 2.0), 1, id="no-full-window"),
]


@pytest.mark.parametrize(("loss", "code"), VERDICTS)
def test_exit_status_is_the_answer(loss, code):
    """Under --exit-status: 0 no parting, 5 a parting, 1 it could not be judged; the record is emitted first."""
    done = carry_out("training runs compare first second --exit-status", metrics=curves(loss))
    assert (done.code, len(done.emitted)) == (code, 1)
    assert bool(done.err) == bool(code)


@pytest.mark.parametrize(("loss", "code"), VERDICTS)
def test_without_it_every_comparison_is_exit_0(loss, code):
    """A comparison that was made is a success, whatever it says."""
    assert carry_out("training runs compare first second", metrics=curves(loss)).code == 0


def test_an_unknown_run_costs_one_request():
    """The first reference that names no run ends the command."""
    done = carry_out("training runs compare first second", run=NotFound("no run goes by 'first'"))
    assert (done.code, done.out, done.calls) == (1, "", [call.run("first")])


@pytest.mark.parametrize(
    "words",
    ["--window 0", "--window -1", "--window 2.5", "--window ten", "--margin -0.1", "--margin NaN", "--margin inf",
     "--margin -0.0000001", "--spike-factor 0", "--spike-factor -1", "--spike-factor nan", "--spike-factor Infinity"],
)  # fmt: skip
def test_numbers_out_of_range_cost_no_request(words):
    """They are wrong usage, with the option and the value in the message."""
    done = carry_out(f"training runs compare first second {words}")
    option, value = words.split()
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert f"{option}: {value!r} is not a" in done.err


def test_a_margin_of_0_is_a_margin():
    """Then the two part at the first difference at all."""
    assert carry_out("training runs compare first second --margin 0").emitted[0].curves.margin == 0


@pytest.mark.parametrize(("argv", "missing"), [("", "RUN"), ("first", "BASELINE")])
def test_both_runs_are_needed(argv, missing):
    """The one that is missing is named."""
    done = carry_out(f"training runs compare {argv}")
    assert (done.code, done.calls) == (2, [])
    assert f"{missing} is missing" in done.err
