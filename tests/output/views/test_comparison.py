"""What a comparison looks like, as JSON and as text."""

from __future__ import annotations

import json
import math
from textwrap import wrap

import numpy as np
import pytest
from support.curves import a_run, column

from akka_optimize.core.comparison import compare
from akka_optimize.output.views.comparison import COMPARISON, to_json
from akka_optimize.output.views.comparison_text import CAUTION, OTHER_ROWS, UNALIGNED, to_text
from akka_optimize.records import Comparison, Difference, Division, EnvironmentDifference

INF, NAN = math.inf, math.nan
RUN, BASELINE = a_run("7d496e82c3a15f04", name="slow"), a_run("be2a310245ea0c11", seed=2**32 - 1)


def made(run, baseline, run_norm=None, baseline_norm=None, /, *, window=2, margin=0.25, **fields):
    """A comparison of the two curves under one plan, unless stated."""
    curves = compare(run, baseline, run_norm, baseline_norm, window=window, margin=margin)
    usual = {"run": RUN, "baseline": BASELINE, "differences": (), "aligned_steps": True, "environment": ()}
    return Comparison(**(usual | fields), curves=curves)


def flat(*losses):
    """A comparison whose baseline has a loss of 1 at every step."""
    return made(column(losses), column([1.0] * len(losses)))


# Seven steps: a good window, one that parts, one with a step that is NaN on both sides, and a short one.
RICH = made(
    column([1.0, 1.125, 2.0, 2.0, NAN, 1.5, 1.0, 9.0]),
    column([1.0, 1.0, 1.0, 1.0, NAN, 1.0, 1.0]),
    column([1, 1, 20, INF, 1, 1, 1, 1]),
    None,
    differences=(Difference("seed", 0, 1),),
    environment=(
        EnvironmentDifference("packages.torch", "2.13", None, True),
        EnvironmentDifference("cpus", 2, 4, False),
    ),
)

SHAPE = {
    "": "run baseline plan environment window margin spikeFactor steps overall windows spikes nonFinite parting",
    "run": "runId name phase configHash seed steps firstStep lastStep medianGradNorm",
    "baseline": "runId name phase configHash seed steps firstStep lastStep medianGradNorm",
    "plan": "same differences alignedSteps division",
    "plan.differences": "path run baseline",
    "plan.division": "same run baseline",
    "plan.division.run": "devices sequencesPerPass accumulation sequencesPerUpdate",
    "environment": "differences",
    "environment.differences": "path run baseline movesDigits",
    "steps": "compared onlyRun onlyBaseline replaced",
    "steps.onlyRun": "steps ranges",
    "steps.onlyRun.ranges": "firstStep lastStep steps",
    "overall": "meanDifference maxAbsWindow fullWindows",
    "windows": "firstStep lastStep steps full runLoss baselineLoss meanDifference",
    "spikes": "of step gradNorm medianGradNorm factor compared",
    "nonFinite": "of metric value firstStep lastStep steps",
    "parting": "firstStep lastStep meanDifference reason",
}


def at(document, path):
    """What stands at a dotted path; of a list its first entry."""
    for name in filter(None, path.split(".")):
        document = document[name]
        document = document[0] if isinstance(document, list) else document
    return document


@pytest.mark.parametrize("path", SHAPE)
def test_fields_and_their_order_are_a_contract(path):
    """Every object of the document has these names, in this order."""
    assert list(at(to_json(RICH), path)) == SHAPE[path].split()


def test_view_lists_exactly_the_fields_of_the_document():
    """What `--json=` offers is what there is."""
    assert list(COMPARISON.names) == SHAPE[""].split()


def test_document_holds_only_what_json_knows():
    """Strictly valid JSON: no NaN, no Infinity, no number of numpy's; integers and truths stay what they are."""
    document = to_json(RICH)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    window = document["windows"][0]
    assert [type(value) for value in window.values()] == [int, int, int, bool, float, float, float]
    assert type(document["baseline"]["seed"]) is int


def test_document_of_a_rich_comparison():
    """Each part says what happened in these eight steps."""
    document = to_json(RICH)
    assert document["windows"] == [
        {"firstStep": 1, "lastStep": 2, "steps": 2, "full": True, "runLoss": 1.0625, "baselineLoss": 1.0,
         "meanDifference": 0.0625},
        {"firstStep": 3, "lastStep": 4, "steps": 2, "full": True, "runLoss": 2.0, "baselineLoss": 1.0,
         "meanDifference": 1.0},
        {"firstStep": 5, "lastStep": 6, "steps": 1, "full": False, "runLoss": 1.5, "baselineLoss": 1.0,
         "meanDifference": 0.5},
        {"firstStep": 7, "lastStep": 7, "steps": 1, "full": False, "runLoss": 1.0, "baselineLoss": 1.0,
         "meanDifference": 0.0},
    ]  # fmt: skip
    assert document["parting"] == {"firstStep": 3, "lastStep": 4, "meanDifference": 1.0, "reason": "margin"}
    assert document["overall"] == {"meanDifference": 2.625 / 6, "maxAbsWindow": 1.0, "fullWindows": 2}
    assert document["steps"] == {
        "compared": 7,
        "onlyRun": {"steps": 1, "ranges": [{"firstStep": 8, "lastStep": 8, "steps": 1}]},
        "onlyBaseline": {"steps": 0, "ranges": []},
        "replaced": 0,
    }
    assert document["spikes"] == [
        {"of": "run", "step": 3, "gradNorm": 20.0, "medianGradNorm": 1.0, "factor": 20.0, "compared": True},
        {"of": "run", "step": 4, "gradNorm": None, "medianGradNorm": 1.0, "factor": None, "compared": True},
    ]
    spot = {"firstStep": 5, "lastStep": 5, "steps": 1}
    assert document["nonFinite"] == [
        {"of": "run", "metric": "loss", "value": "NaN", **spot},
        {"of": "run", "metric": "gradNorm", "value": "Infinity", "firstStep": 4, "lastStep": 4, "steps": 1},
        {"of": "baseline", "metric": "loss", "value": "NaN", **spot},
    ]
    assert (document["run"]["medianGradNorm"], document["baseline"]["medianGradNorm"]) == (1.0, None)
    assert document["run"] | {"steps": 8, "firstStep": 1, "lastStep": 8} == document["run"]


@pytest.mark.parametrize(
    ("comparison", "parting", "first"),
    [
        pytest.param(flat(1.0, 1.0), None, {"runLoss": 1.0, "meanDifference": 0.0}, id="no-parting"),
        pytest.param(
            flat(NAN, 1.0),
            {"firstStep": 1, "lastStep": 2, "meanDifference": None, "reason": "nonFinite"},
            {"runLoss": None, "baselineLoss": 1.0, "meanDifference": None, "full": True},
            id="one-side-not-finite",
        ),
        pytest.param(
            made(column([NAN] * 2), column([NAN] * 2)),
            None,
            {"steps": 0, "full": False, "runLoss": None, "baselineLoss": None, "meanDifference": None},
            id="nothing-finite",
        ),
        pytest.param(
            made(column([1.7e308] * 2), column([-1.7e308] * 2)),
            {"firstStep": 1, "lastStep": 2, "meanDifference": None, "reason": "nonFinite"},
            {"runLoss": 1.7e308, "meanDifference": None},
            id="a-difference-beyond-all-numbers",
        ),
    ],
)
def test_document_at_the_edges(comparison, parting, first):
    """A number that does not exist is null, and what it means stands beside it."""
    document = to_json(comparison)
    json.dumps(document, allow_nan=False)
    assert document["parting"] == parting
    assert document["windows"][0] | first == document["windows"][0]


def test_zero_median_has_no_factor():
    """Nothing is a multiple of zero; the spike is listed all the same."""
    document = to_json(made(column([1.0] * 3), column([1.0] * 3), column([0, 0, 2.0])))
    assert [(each["gradNorm"], each["medianGradNorm"], each["factor"]) for each in document["spikes"]] == [(2, 0, None)]


def test_division_is_compared_apart_from_the_plan():
    """Same plan, another division: both are shown."""
    document = to_json(made(column([1.0]), column([1.0]), run=a_run("a", division=Division(1, 2, 4, 8))))
    assert document["plan"]["same"] is True
    assert document["plan"]["division"]["same"] is False
    assert document["plan"]["division"]["run"]["accumulation"] == 4


VERDICTS = [
    pytest.param(
        flat(1.0, 1.125, 1.0, 1.0), "no parting in 2 full windows of 2 steps; largest mean difference +0.0625 "
        "at steps 1-2, margin 0.25", id="no-parting",
    ),
    pytest.param(
        flat(1.0, 1.0, 1.0), "no parting in 1 full window of 2 steps; every mean difference is exactly 0", id="equal",
    ),
    pytest.param(
        made(column([1.0] * 3), column([1.0] * 3), window=1), "no parting in 3 full windows of 1 step; "
        "every mean difference is exactly 0", id="windows-of-one-step",
    ),
    pytest.param(
        made(column([NAN, 1.0, 1.0, 0.875]), column([NAN, 1.0, 1.0, 1.0])), "no parting in 1 full window of 2 steps; "
        "largest mean difference -0.0625 at steps 3-4, margin 0.25", id="beside-a-window-that-is-not-full",
    ),
    pytest.param(
        flat(1.0, 1.0, 0.5, 0.5), "parting at steps 3-4: the run's loss is lower, mean difference -0.5, margin 0.25; "
        "2 full windows of 2 steps", id="parting",
    ),
    pytest.param(
        flat(1.0, math.nextafter(1.5, 2)),
        "parting at steps 1-2: the run's loss is higher, mean difference +0.2500000000000001, margin 0.25; "
        "1 full window of 2 steps", id="parting-by-a-hair-shows-the-hair",
    ),
    pytest.param(
        flat(NAN, 1.0), "parting at steps 1-2: only one of the two losses is finite there; "
        "1 full window of 2 steps", id="parting-by-a-number-that-is-none",
    ),
    pytest.param(
        flat(9.0), "not judged: no full window of 2 steps among 1 compared step", id="too-short",
    ),
    pytest.param(
        made(column([NAN] * 4), column([NAN] * 4)),
        "not judged: no full window of 2 steps among 4 compared steps", id="nothing-finite",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("comparison", "expected"), VERDICTS)
def test_first_line_is_the_verdict_and_what_it_rests_on(comparison, expected):
    """Whether they part is never said without how many windows say so."""
    assert next(to_text(comparison)) == expected


def test_caution_follows_a_parting_only():
    """A parting is to be read beside repeated runs; no parting needs no warning."""
    assert CAUTION in " ".join(to_text(RICH, 80))
    assert "repeated runs" not in " ".join(to_text(flat(1.0, 1.0)))


TEXT = """\
parting at steps 3-4: the run's loss is higher, mean difference +1, margin 0.25; 2 full windows of 2 steps
<caution>

          ID            PHASE      CONFIG              SEED  STEPS  MEDIAN NORM  NAME
run       7d496e82c3a1  Completed  e14ea5ff5f88           0  1-8              1  slow
baseline  be2a310245ea  Completed  e14ea5ff5f88  4294967295  1-7              —  —

plan: 1 difference (run -> baseline)
  seed: 0 -> 1
<other rows>
division: the same, 1x8x1 (devices x sequences per pass x accumulation)
environment: 2 differences (run -> baseline)
  packages.torch: "2.13" -> —, which can move digits
  cpus: 2 -> 4

STEPS     RUN LOSS     BASELINE   DIFFERENCE
1-2         1.0625       1.0000      +0.0625
3-4         2.0000       1.0000      +1.0000  parts, 2 spikes
5-6         1.5000       1.0000      +0.5000  1 not finite
7           1.0000       1.0000            0  short

spikes of the run: 2 (10 x the median gradient norm 1)
  step 3: gradient norm 20, 20 x the median
  step 4: gradient norm Infinity
spikes of the baseline: not known, it recorded no gradient norm
loss of the run was NaN at 1 step: 5
gradient norm of the run was Infinity at 1 step: 4
only the run recorded 1 step: 8
loss of the baseline was NaN at 1 step: 5
"""


@pytest.mark.parametrize("width", [80, 160])
def test_text_of_a_rich_comparison(width):
    """The whole page: verdict, caution, who, under which plan, every window with its marks in words, and the rest."""
    verdict, *lines = to_text(RICH, width)
    assert all(len(line) <= width for line in lines if not line.startswith(("run", "baseline", " ")))
    caution = [line for line in lines[: lines.index("")] if line]
    assert " ".join(caution) == CAUTION
    page = "\n".join([verdict, "<caution>", *lines[len(caution) :]]) + "\n"
    sentence = "\n".join(wrap(OTHER_ROWS.format("seed"), width))
    assert sentence in page
    page = page.replace(sentence, "<other rows>")
    assert page == TEXT


@pytest.mark.parametrize(
    ("losses", "marks"),
    [
        pytest.param([2.0, 2.0, 2.0, 2.0], ["parts", "beyond"], id="later-windows-beyond-the-margin"),
        pytest.param([NAN, 1.0, NAN, 1.0], ["parts, one not finite", "beyond, one not finite"], id="one-not-finite"),
        pytest.param([1.0, 1.0, NAN], ["", "short, 1 not finite"], id="short-and-not-finite"),
        pytest.param([1.0, 1.0, 9.0], ["", "short"], id="a-short-window-never-parts"),
    ],
)
def test_marks_are_words(losses, marks):
    """Nothing is told by colour alone."""
    lines = list(to_text(flat(*losses)))
    start = next(i for i, line in enumerate(lines) if line.startswith("STEPS")) + 1
    assert [line[46:].strip() for line in lines[start : start + len(marks)]] == marks


def test_a_window_counts_the_spikes_at_its_own_steps():
    """A spike at a step that was not compared is listed, and belongs to no window."""
    norms = column([1, 20, 1, 20, 1, 1])
    some = made(column([1.0] * 6), column([1.0] * 4, steps=[1, 2, 3, 5]), norms, column([1, 20, 1, 1], [1, 2, 3, 5]))
    assert said(some, "1-2 ")[0].endswith("2 spikes")
    assert said(some, "3-5 ")[0].endswith(" 0")
    assert said(some, "  step 4") == ["  step 4: gradient norm 20, 20 x the median, not compared"]


def said(comparison, beginning):
    """The lines of the text that begin so."""
    return [line for line in to_text(comparison) if line.startswith(beginning)]


def test_no_norm_is_not_the_same_as_no_spike():
    """Three answers to where the spikes are: none, not known, and none was finite."""
    four = column([1.0] * 4)
    assert said(made(four, four, four, None), "spikes of") == [
        "spikes of the run: none (10 x the median gradient norm 1)",
        "spikes of the baseline: not known, it recorded no gradient norm",
    ]
    assert said(made(four, four, column([NAN] * 4)), "spikes of the run") == [
        "spikes of the run: none (no gradient norm was finite)"
    ]


def test_a_long_list_is_cut_and_says_so():
    """Five hundred spikes, or gaps, do not bury the rest of the page."""
    ones, zeros = column([1.0] * 1001), column([0.0, 0.0, 1.0] * 333 + [0.0, 0.0])
    assert said(made(ones, ones, zeros), "  and")[0] == "  and 313 more, all in the JSON"
    odd = column([1.0] * 501, steps=range(1, 1002, 2))
    line = said(made(ones, odd), "only the run recorded 500 steps: 2, 4, ")[0]
    assert line.endswith("38, 40 and 480 more ranges")


def test_a_run_that_has_not_ended_is_said_to_be_going_on():
    """The table may look different in a minute."""
    going = made(column([1.0]), column([1.0]), baseline=a_run("b", phase="TRAINING"))
    assert said(going, "The ") == ["The baseline has not ended (Training): it may record more steps."]


def test_steps_that_do_not_align_are_said_to():
    """Equal numbers of a parent and its child are not equal ages."""
    child = made(column([1.0]), column([1.0]), aligned_steps=False, differences=(Difference("source", {"a": 1}, None),))
    text = list(to_text(child, 160))
    assert UNALIGNED in text
    assert '  source: {"a": 1} -> —' in text


def test_replaced_losses_are_counted():
    """What a resumed run trained again is not compared twice, and not silently dropped either."""
    twice = column([1.0, 2.0, 1.0], [1, 2, 2], [1, 1, 2])
    assert said(made(twice, column([1.0, 1.0])), "1 loss of") == [
        "1 loss of the run gave way to those of a later attempt"
    ]


def test_environments_that_nobody_recorded_are_not_called_equal():
    """Not known is not the same."""
    unknown = {"run": a_run("a", environment=None), "baseline": a_run("b", environment=None)}
    assert said(made(column([1.0]), column([1.0]), **unknown), "environment") == ["environment: not recorded"]


def test_a_name_cannot_steer_the_terminal():
    """Control characters are written out, in the name and in a setting."""
    hostile = made(
        column([1.0]),
        column([1.0]),
        run=a_run("a", name="\x1b[2Jgone\r\n"),
        differences=(Difference("na\x07me", "\x9b1m", "b"),),
    )
    text = "\n".join(to_text(hostile))
    assert text.replace("\n", "").isprintable()
    assert "\\x1b[2Jgone\\r\\n" in text


def test_numbers_of_any_size_keep_their_digits_and_their_column():
    """Tiny and huge losses are shown with significant digits, and never widen the table."""
    tiny = made(column([1e17, 3e-9, -2.5e-7]), column([1.0, 1e-9, 1.0]), window=1)
    start = list(to_text(tiny)).index(next(line for line in to_text(tiny) if line.startswith("STEPS")))
    rows = [line.split() for line in list(to_text(tiny))[start + 1 : start + 4]]
    assert rows[0][:4] == ["1", "1e+17", "1.0000", "+1e+17"]
    assert rows[1][:4] == ["2", "3e-09", "1e-09", "+2e-09"]
    assert rows[2][:4] == ["3", "-2.5e-07", "1.0000", "-1.0000"]


def test_lines_come_one_by_one():
    """The first line is there before a hundred thousand rows are made."""
    many = np.ones(10**5)
    lines = to_text(made(column(many), column(many), window=1))
    assert next(lines).startswith("no parting in 100000 full windows")
    assert next(lines) == ""


def test_view_text_ends_each_line_and_respects_the_terminal(monkeypatch):
    """The view asks the terminal for its width, and lets no sentence grow too wide to read."""
    monkeypatch.setenv("COLUMNS", "40")
    narrow = COMPARISON.to_text(RICH)
    monkeypatch.setenv("COLUMNS", "400")
    wide = COMPARISON.to_text(RICH)
    assert narrow == "".join(f"{line}\n" for line in to_text(RICH, 40))
    assert wide == "".join(f"{line}\n" for line in to_text(RICH, 100))


def test_losses_too_far_apart_for_a_float_are_stated():
    """Where a difference is null because it overflows, the document says so, and the text says why they part."""
    found = made(column([1e308] * 2), column([-1e308] * 2))
    document = to_json(found)
    assert document["parting"] == {"firstStep": 1, "lastStep": 2, "meanDifference": None, "reason": "nonFinite"}
    assert document["overall"]["meanDifference"] is None
    assert document["nonFinite"] == [
        {"of": "difference", "metric": "loss", "value": "Infinity", "firstStep": 1, "lastStep": 2, "steps": 2}
    ]
    lines = list(to_text(found))
    assert lines[0].startswith("parting at steps 1-2: no float64 holds the mean difference; ")
    assert lines[-1] == "loss of the run less the baseline's is Infinity at 2 steps: 1-2"
    assert "nan" not in "".join(lines)
    assert " inf" not in "".join(lines)


def test_infinity_has_one_name_in_text():
    """Of a mean loss and of a spike's norm too, as everywhere else."""
    text = "\n".join(to_text(made(column([INF, 1.0]), column([1.0, 1.0]), column([1, INF]), column([1, 1]))))
    assert "gradient norm Infinity" in text
    assert "1-2       Infinity" in text
    assert " inf" not in text
