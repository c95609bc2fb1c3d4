"""What `compare` shows: the JSON document here, the text beside it.

Built for a hundred thousand windows: columns become lists at once, and one comprehension makes the rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from akka_optimize.output.view import Field, View
from akka_optimize.output.views.comparison_text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from akka_optimize.records import Comparison, Curve, Difference, Division, NonFinite, Ranges, Run

WIDEST = 100  # columns of a sentence that still reads well

FIELDS = (
    Field("run", "the run: its ids, phase, plan's hash, seed, recorded steps and median gradient norm"),
    Field("baseline", "the same of the baseline"),
    Field("plan", "whether the plans are the same, in what they differ, and how each divides its update"),
    Field("environment", "in what the recorded versions and machines differ, and which of that can move digits"),
    Field("window", "steps in a window"),
    Field("margin", "mean difference above which a full window parts"),
    Field("spikeFactor", "multiple of its run's median from which a gradient norm is a spike"),
    Field(
        "steps", "how many steps were compared, which only one run recorded, how many values a later attempt replaced"
    ),
    Field("overall", "mean difference over all compared steps, the largest over a full window, and the full windows"),
    Field("windows", "each window: its steps, whether it is full, both mean losses and the mean difference"),
    Field("spikes", "each step of either run whose gradient norm is a spike"),
    Field("nonFinite", "where a loss, a gradient norm or a difference was NaN or infinite; elsewhere that is null"),
    Field("parting", "the first full window in which the two part, or null"),
)


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison as a JSON document; a number that is not finite is null."""
    curves = comparison.curves
    sides = (("run", curves.run), ("baseline", curves.baseline))
    parting = curves.parting
    return {
        "run": _run(comparison.run, curves.run),
        "baseline": _run(comparison.baseline, curves.baseline),
        "plan": {
            "same": not comparison.differences,
            "differences": [_difference(each) for each in comparison.differences],
            "alignedSteps": comparison.aligned_steps,
            "division": {
                "same": comparison.run.division == comparison.baseline.division,
                "run": _division(comparison.run.division),
                "baseline": _division(comparison.baseline.division),
            },
        },
        "environment": {
            "differences": [{**_difference(each), "movesDigits": each.moves_digits} for each in comparison.environment]
        },
        "window": curves.window,
        "margin": curves.margin,
        "spikeFactor": curves.spike_factor,
        "steps": {
            "compared": curves.compared,
            "onlyRun": _only(curves.run.only),
            "onlyBaseline": _only(curves.baseline.only),
            "replaced": curves.run.replaced + curves.baseline.replaced,
        },
        "overall": {
            "meanDifference": _finite(curves.mean_difference),
            "maxAbsWindow": curves.max_abs_window,
            "fullWindows": curves.full_windows,
        },
        "windows": _windows(comparison),
        "spikes": [row for of, curve in sides for row in _spikes(of, curve)],
        "nonFinite": [row for of, told in (*sides, ("difference", curves)) for row in _non_finite(of, told.non_finite)],
        "parting": parting
        and {
            "firstStep": parting.first_step,
            "lastStep": parting.last_step,
            "meanDifference": _finite(parting.mean_difference),
            "reason": parting.reason,
        },
    }


def _run(run: Run, curve: Curve) -> dict[str, Any]:
    return {
        "runId": run.run_id,
        "name": run.name,
        "phase": run.phase,
        "configHash": run.config_hash,
        "seed": run.seed,
        "steps": curve.steps,
        "firstStep": curve.first_step,
        "lastStep": curve.last_step,
        "medianGradNorm": curve.median_grad_norm,
    }


def _difference(each: Difference) -> dict[str, Any]:
    return {"path": each.path, "run": each.run, "baseline": each.baseline}


def _division(division: Division) -> dict[str, int]:
    return {
        "devices": division.devices,
        "sequencesPerPass": division.sequences_per_pass,
        "accumulation": division.accumulation,
        "sequencesPerUpdate": division.sequences_per_update,
    }


def _only(ranges: Ranges) -> dict[str, Any]:
    return {"steps": int(ranges.counts.sum()), "ranges": _ranges(ranges)}


def _ranges(ranges: Ranges) -> list[dict[str, int]]:
    return [
        {"firstStep": first, "lastStep": last, "steps": count}
        for first, last, count in zip(
            ranges.first_steps.tolist(), ranges.last_steps.tolist(), ranges.counts.tolist(), strict=True
        )
    ]


def _windows(comparison: Comparison) -> list[dict[str, Any]]:
    windows = comparison.curves.windows
    return [
        {
            "firstStep": first,
            "lastStep": last,
            "steps": steps,
            "full": full,
            "runLoss": run,
            "baselineLoss": baseline,
            "meanDifference": difference,
        }
        for first, last, steps, full, run, baseline, difference in zip(
            windows.first_steps.tolist(),
            windows.last_steps.tolist(),
            windows.steps.tolist(),
            windows.full.tolist(),
            _numbers(windows.run_losses),
            _numbers(windows.baseline_losses),
            _numbers(windows.mean_differences),
            strict=True,
        )
    ]


def _spikes(of: str, curve: Curve) -> Iterator[dict[str, Any]]:
    found, median = curve.spikes, curve.median_grad_norm
    for step, norm, compared in zip(
        found.steps.tolist(), _numbers(found.grad_norms), found.compared.tolist(), strict=True
    ):
        yield {
            "of": of,
            "step": step,
            "gradNorm": norm,
            "medianGradNorm": median,
            "factor": _finite(norm / median) if norm is not None and median else None,
            "compared": compared,
        }


def _non_finite(of: str, told: Iterable[NonFinite]) -> Iterator[dict[str, Any]]:
    for found in told:
        for block in _ranges(found.ranges):
            yield {"of": of, "metric": found.metric, "value": found.value, **block}


def _numbers(values: np.ndarray) -> list[float | None]:
    """The entries as Python floats, those that are not finite as None."""
    numbers: list[float | None] = values.tolist()
    if not numbers or (math.isfinite(values.max()) and math.isfinite(values.min())):  # both hand on a NaN
        return numbers
    return [_finite(number) for number in numbers]


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _text(comparison: Comparison) -> str:
    from shutil import get_terminal_size

    width = min(get_terminal_size().columns, WIDEST)
    return "".join(f"{line}\n" for line in to_text(comparison, width))


COMPARISON = View("comparison", FIELDS, to_json=to_json, to_text=_text)
