"""A comparison as lines of text: the verdict first, then what it rests on."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import chain, islice
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from akka_optimize.output.finite import formatted
from akka_optimize.output.text import MISSING, grid, visible
from akka_optimize.output.views.run import phase, spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Comparison, Curve, Curves, Difference, Ranges

LISTED = 20  # entries of a list that are written out; the JSON has them all
CAUTION = (
    "Two runs of one plan need not agree to the last digit either, and a single gradient spike can shift a loss for "
    "many steps. Before reading a cause into this window, compare repeated runs of the same plan and see how far they "
    "part."
)
OTHER_ROWS = (
    "The two did not draw the same rows at every step ({}): a difference in their losses says nothing by itself of "
    "what they learned."
)
DRAWING = (  # what decides which rows a step takes
    "dataset",
    "seed",
    "maxSeqLength",
    "hyperparams.training.sequencesPerUpdate",
    "hyperparams.training.validationShare",
)
UNALIGNED = (
    "The two did not start from the same weights: equal step numbers are paired, and they are not equal amounts of "
    "training."
)


def to_text(comparison: Comparison, width: int = 80) -> Iterator[str]:
    """Lines for a reader, sentences wrapped at `width`; the verdict and the tables keep their lines."""
    curves = comparison.curves
    yield verdict(curves)
    if curves.parting:
        yield from wrap(CAUTION, width)
    yield ""
    yield from _identities(comparison)
    yield ""
    yield from _settings(comparison, width)
    yield ""
    yield from _table(curves)
    yield ""
    for of, curve in (("run", curves.run), ("baseline", curves.baseline)):
        yield from _spikes(of, curve, curves.spike_factor)
    for of, curve in (("run", curves.run), ("baseline", curves.baseline)):
        yield from _steps(of, curve)
    for found in curves.non_finite:
        yield f"{found.metric} of the run less the baseline's is {found.value} at {_blocks(found.ranges)}"


def verdict(curves: Curves) -> str:
    """One sentence: did the two part, and what does the answer rest on?"""
    parting, windows = curves.parting, curves.windows
    if not curves.full_windows:
        compared = _count(curves.compared, "compared step")
        return f"not judged: no full window of {_count(curves.window, 'step')} among {compared}"
    rests = f"{_count(curves.full_windows, 'full window')} of {_count(curves.window, 'step')}"
    if parting:
        span = _steps_of(parting.first_step, parting.last_step)
        if parting.reason == "nonFinite":
            one_sided = math.isnan(windows.mean_differences[parting.window])
            why = "only one of the two losses is finite there" if one_sided else "no float64 holds the mean difference"
            return f"parting at {span}: {why}; {rests}"
        mean = _beyond(parting.mean_difference, curves.margin)
        side = "higher" if (parting.mean_difference or 0) > 0 else "lower"
        return f"parting at {span}: the run's loss is {side}, mean difference {mean}, margin {curves.margin:g}; {rests}"
    if not curves.max_abs_window:
        return f"no parting in {rests}; every mean difference is exactly 0"
    full = windows.full.nonzero()[0]
    largest = full[abs(windows.mean_differences[full]).argmax()]
    span = _steps_of(windows.first_steps[largest], windows.last_steps[largest])
    size = windows.mean_differences[largest]
    return f"no parting in {rests}; largest mean difference {size:+.4g} at {span}, margin {curves.margin:g}"


def _identities(comparison: Comparison) -> Iterator[str]:
    curves = comparison.curves
    sides = (("run", comparison.run, curves.run), ("baseline", comparison.baseline, curves.baseline))
    rows = [
        (
            of,
            run.run_id[:12],
            phase(run),
            run.config_hash,
            run.seed,
            _span(curve.first_step, curve.last_step),
            curve.median_grad_norm,
            run.name,
        )
        for of, run, curve in sides
    ]
    headings = ("", "ID", "PHASE", "CONFIG", "SEED", "STEPS", "MEDIAN NORM", "NAME")
    yield from grid(headings, rows).rstrip("\n").split("\n")
    from akka_optimize.records import TERMINAL_PHASES

    for of, run, _ in sides:
        if run.phase not in TERMINAL_PHASES:
            yield f"The {of} has not ended ({phase(run)}): it may record more steps."


def _settings(comparison: Comparison, width: int) -> Iterator[str]:
    run, baseline = comparison.run, comparison.baseline
    if comparison.differences:
        yield f"plan: {_count(len(comparison.differences), 'difference')} (run -> baseline)"
        yield from map(_difference, comparison.differences)
    else:
        yield f"plan: the same ({run.config_hash})"
    if drawn := [each.path for each in comparison.differences if each.path in DRAWING]:
        yield from wrap(OTHER_ROWS.format(", ".join(drawn)), width)
    if not comparison.aligned_steps:
        yield from wrap(UNALIGNED, width)
    same = run.division == baseline.division
    divisions = spread(run.division) if same else f"{spread(run.division)} -> {spread(baseline.division)}"
    yield f"division: {'the same, ' if same else ''}{divisions} (devices x sequences per pass x accumulation)"
    if comparison.environment:
        yield f"environment: {_count(len(comparison.environment), 'difference')} (run -> baseline)"
        for each in comparison.environment:
            yield f"{_difference(each)}{', which can move digits' if each.moves_digits else ''}"
    elif run.environment is None and baseline.environment is None:
        yield "environment: not recorded"
    else:
        yield "environment: the same"


def _table(curves: Curves) -> Iterator[str]:
    windows = curves.windows
    spikes = _spikes_by_window(curves)
    first_parted = curves.parting.window if curves.parting else -1
    size = max(5, 2 * len(str(windows.last_steps[-1])) + 1)
    yield f"{'STEPS':<{size}}  {'RUN LOSS':>11}  {'BASELINE':>11}  {'DIFFERENCE':>11}"
    rows = zip(
        windows.first_steps.tolist(),
        windows.last_steps.tolist(),
        windows.steps.tolist(),
        windows.full.tolist(),
        windows.run_losses.tolist(),
        windows.baseline_losses.tolist(),
        windows.mean_differences.tolist(),
        strict=True,
    )
    last = len(windows.full) - 1
    short = curves.compared - last * curves.window  # steps in the last group
    for k, (first, end, steps, full, run, baseline, difference) in enumerate(rows):
        cut = curves.window if k < last else short
        words = []
        if k == first_parted:
            words.append("parts")
        elif full and not abs(difference) <= curves.margin:
            words.append("beyond")
        if full and difference != difference:
            words.append("one not finite")
        if cut < curves.window:
            words.append("short")
        if steps < cut:
            words.append(f"{cut - steps} not finite")
        if k in spikes:
            words.append(_count(spikes[k], "spike"))
        line = f"{_span(first, end):<{size}}  {_loss(run):>11}  {_loss(baseline):>11}  {_signed(difference):>11}"
        yield f"{line}  {', '.join(words)}" if words else line


def _spikes_by_window(curves: Curves) -> Counter[int]:
    """How many spikes of either run fall on compared steps of each window."""
    steps = (curve.spikes.steps[curve.spikes.compared] for curve in (curves.run, curves.baseline))
    starts = curves.windows.first_steps
    return Counter(chain.from_iterable((starts.searchsorted(some, side="right") - 1).tolist() for some in steps))


def _spikes(of: str, curve: Curve, factor: float) -> Iterator[str]:
    found, median = curve.spikes, curve.median_grad_norm
    if not curve.norms:
        yield f"spikes of the {of}: not known, it recorded no gradient norm"
        return
    rests = "no gradient norm was finite" if median is None else f"{factor:g} x the median gradient norm {median:.4g}"
    if not len(found.steps):
        yield f"spikes of the {of}: none ({rests})"
        return
    yield f"spikes of the {of}: {len(found.steps)} ({rests})"
    rows = zip(found.steps.tolist(), found.grad_norms.tolist(), found.compared.tolist(), strict=True)
    for step, norm, compared in islice(rows, LISTED):
        times = f", {norm / median:.3g} x the median" if median and math.isfinite(norm / median) else ""
        alone = "" if compared else ", not compared"
        yield f"  step {step}: gradient norm {formatted(norm, '.4g')}{times}{alone}"
    yield from _rest(len(found.steps))


def _steps(of: str, curve: Curve) -> Iterator[str]:
    """What else has to be said of one run's steps: what is not finite, recorded alone, or recorded twice."""
    for found in curve.non_finite:
        metric = {"loss": "loss", "gradNorm": "gradient norm"}[found.metric]
        yield f"{metric} of the {of} was {found.value} at {_blocks(found.ranges)}"
    if len(curve.only.counts):
        yield f"only the {of} recorded {_blocks(curve.only)}"
    if curve.replaced:
        yield f"{_count(curve.replaced, 'loss', 'losses')} of the {of} gave way to those of a later attempt"


def _blocks(ranges: Ranges) -> str:
    spans = [_span(first, last) for first, last in zip(ranges.first_steps[:LISTED], ranges.last_steps, strict=False)]
    more = len(ranges.counts) - len(spans)
    tail = f" and {_count(more, 'more range')}" if more else ""
    return f"{_count(int(ranges.counts.sum()), 'step')}: {', '.join(spans)}{tail}"


def _rest(total: int) -> Iterator[str]:
    if total > LISTED:
        yield f"  and {total - LISTED} more, all in the JSON"


def _difference(found: Difference) -> str:
    return f"  {visible(found.path)}: {_value(found.run)} -> {_value(found.baseline)}"


def _value(value: Any) -> str:
    return MISSING if value is None else visible(json.dumps(value, ensure_ascii=False))


def _steps_of(first: int, last: int) -> str:
    return f"step{'' if first == last else 's'} {_span(first, last)}"


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}-{last}"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {many or one + 's'}"


def _loss(number: float) -> str:
    size = abs(number)
    return f"{number:.4f}" if 0.001 <= size < 1e5 else MISSING if size != size else formatted(number, ".4g")


def _signed(number: float) -> str:
    size = abs(number)
    if 0.001 <= size < 1e5:
        return f"{number:+.4f}"
    if size == math.inf:
        return "+Infinity" if number > 0 else "-Infinity"
    return "0" if not size else MISSING if size != size else f"{number:+.3g}"


def _beyond(mean: float | None, margin: float) -> str:
    """The mean with four digits, or with all of them where four would not show that it is beyond the margin."""
    assert mean is not None
    short = f"{mean:+.4g}"
    return short if abs(float(short)) > margin else f"{mean:+}"
